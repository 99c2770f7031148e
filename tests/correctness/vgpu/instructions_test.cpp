// Every row as a small kernel on a Device: one instruction between loads and a store, a thread for each set of operands.
#include <gtest/gtest.h>

#include <cstring>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/ptx_programs.h"
#include "instruction_rows.h"
#include "support/tests_folder.h"
#include "vgpu/device.h"

namespace kw::vgpu {
namespace {

std::string register_of(const std::string& type, std::size_t index) {
  const int width = host::width_of(type);
  const char* kind = width == 1 ? "%p" : width <= 16 ? "%h" : width == 32 ? "%r" : "%d";
  return kind + std::to_string(index);
}
std::string width_text(const std::string& type) {
  const int width = host::width_of(type);
  return std::to_string(width <= 16 && width > 1 ? 16 : width == 64 ? 64 : 32);
}

// Operands lie in arrays of 64-bit cells, one an operand; the result goes to the last one.
std::string kernel_text(const host::Row& row, const std::string& kernel) {
  std::string text = ".visible .entry " + kernel + "(";
  for (std::size_t i = 0; i <= row.sources.size(); ++i)
    text += std::string(i == 0 ? "" : ", ") + ".param .u64 p" + std::to_string(i);
  text +=
      ")\n{\n.reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<20>;\n.reg .b64 %d<20>;\n"
      "mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %ntid.x;\nmov.u32 %r12, %tid.x;\nmad.lo.u32 %r13, %r10, %r11, %r12;\nmul.wide.u32 "
      "%d10, %r13, 8;\n";
  std::string operands;
  for (std::size_t i = 0; i < row.sources.size(); ++i) {
    const std::string& type = row.sources[i];
    if (type == "lut") {
      operands += ", 0x96";
      continue;
    }
    const std::string param = "p" + std::to_string(i), value = register_of(type, i);
    text += "ld.param.u64 %d11, [" + param + "];\nadd.u64 %d12, %d11, %d10;\n";
    if (type == "pred")
      text += "ld.global.u32 %r14, [%d12];\nsetp.ne.u32 " + value + ", %r14, 0;\n";
    else
      text += "ld.global.b" + width_text(type) + " " + value + ", [%d12];\n";
    operands += ", " + value;
  }
  const std::string result = register_of(row.result, 9);
  text += row.name + " " + result + operands + ";\n";
  text += "ld.param.u64 %d11, [p" + std::to_string(row.sources.size()) + "];\nadd.u64 %d12, %d11, %d10;\n";
  if (row.result == "pred")
    text += "selp.u32 %r15, 1, 0, " + result + ";\nst.global.u32 [%d12], %r15;\n";
  else
    text += "st.global.b" + width_text(row.result) + " [%d12], " + result + ";\n";
  return text + "ret;\n}\n";
}

constexpr const char* kModuleHead = ".version 8.6\n.target sm_100\n.address_size 64\n";

class Bench {
 public:
  Bench() : device_(options()) {
    for (auto& array : arrays_) {
      auto memory = device_.allocate(host::kCases * 8, "operands");
      if (memory) array = *memory;
    }
  }
  static DeviceOptions options() {
    DeviceOptions chosen;
    chosen.threads = 1;
    return chosen;
  }
  Device& device() { return device_; }
  std::byte* array(std::size_t i) { return arrays_[i]; }
  void fill(std::size_t i, const std::vector<std::uint64_t>& values) {
    std::memcpy(arrays_[i], values.data(), values.size() * 8);
    device_.note_host_write(arrays_[i], host::kCases * 8);
  }
  // Runs a kernel whose parameters are the first `count` arrays, the last of them for results.
  void run(const Module& module, const std::string& kernel, std::size_t count, std::size_t threads = host::kCases) {
    const auto function = device_.kernel(module, kernel);
    ASSERT_TRUE(function) << kernel;
    std::memset(arrays_[count - 1], 0xee, host::kCases * 8);
    std::vector<std::byte> params(8 * count);
    std::memcpy(params.data(), arrays_, 8 * count);
    const auto report = device_.launch(**function, {static_cast<std::uint32_t>(threads / 256), 1, 1}, {256, 1, 1}, 0, params);
    ASSERT_TRUE(report) << report.error().message;
    for (const Finding& finding : report->findings) ADD_FAILURE() << kernel << ": " << finding.kind << ", " << finding.message;
  }

 private:
  Device device_;
  std::byte* arrays_[5] = {};
};

void check_rows_on_device(const std::vector<host::Row>& rows) {
  Bench bench;
  std::string text = kModuleHead;
  for (std::size_t i = 0; i < rows.size(); ++i) text += kernel_text(rows[i], "k" + std::to_string(i));
  const auto module = bench.device().load(text, "rows");
  ASSERT_TRUE(module) << module.error().message;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const host::Row& row = rows[r];
    const auto cases = host::cases_of(row);
    for (std::size_t i = 0; i < row.sources.size(); ++i) bench.fill(i, cases[i]);
    bench.run(**module, "k" + std::to_string(r), row.sources.size() + 1, cases[0].size());
    if (::testing::Test::HasFatalFailure()) return;
    int wrong = 0;
    for (std::size_t j = 0; j < cases[0].size() && wrong < 3; ++j) {
      std::uint64_t values[4] = {}, got = 0;
      for (std::size_t i = 0; i < row.sources.size(); ++i) values[i] = cases[i][j];
      std::memcpy(&got, bench.array(row.sources.size()) + 8 * j, 8);
      const std::string complaint = host::judge(row, values, got);
      if (!complaint.empty() && ++wrong <= 3) ADD_FAILURE() << complaint;
    }
  }
}

TEST(Instructions, Integers) { check_rows_on_device(host::integer_rows()); }
TEST(Instructions, Bits) { check_rows_on_device(host::bit_rows()); }
TEST(Instructions, Floats) { check_rows_on_device(host::float_rows()); }
TEST(Instructions, Halves) { check_rows_on_device(host::half_rows()); }
TEST(Instructions, SpecialFunctions) { check_rows_on_device(host::special_rows()); }
TEST(Instructions, Comparisons) { check_rows_on_device(host::compare_rows()); }
TEST(Instructions, Conversions) { check_rows_on_device(host::convert_rows()); }

// A kernel from its body: %d0 ... %d3 are the addresses of this thread's cells of a, b, c and of the result.
std::vector<std::uint64_t> run_body(const std::string& body, const std::vector<std::uint64_t>& a,
                                    const std::vector<std::uint64_t>& b) {
  Bench bench;
  std::string text = kModuleHead;
  text +=
      ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n.reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 "
      "%r<40>;\n.reg .b64 "
      "%d<40>;\nmov.u32 %r30, %ctaid.x;\nmov.u32 %r31, %ntid.x;\nmov.u32 %r32, %tid.x;\nmad.lo.u32 %r33, %r30, %r31, "
      "%r32;\nmul.wide.u32 %d30, %r33, 8;\n"
      "ld.param.u64 %d0, [p0];\nadd.u64 %d0, %d0, %d30;\nld.param.u64 %d1, [p1];\nadd.u64 %d1, %d1, %d30;\nld.param.u64 %d3, "
      "[p2];\nadd.u64 %d3, %d3, %d30;\n" +
      body + "ret;\n}\n";
  const auto module = bench.device().load(text, "body");
  std::vector<std::uint64_t> results(host::kCases);
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return results;
  }
  bench.fill(0, a);
  bench.fill(1, b);
  bench.run(**module, "k", 3);
  std::memcpy(results.data(), bench.array(2), host::kCases * 8);
  return results;
}
std::vector<std::uint64_t> drawn(unsigned seed, const char* type) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values(host::kCases);
  for (auto& value : values) value = host::any_value(type, random, (random() & 1) != 0);
  return values;
}

TEST(Instructions, SecondPredicateIsTheOppositeCombined) {
  const auto a = drawn(1, "f32"), b = drawn(2, "f32");
  const auto got = run_body(
      "ld.global.f32 %r0, [%d0];\nld.global.f32 %r1, [%d1];\nsetp.gt.f32 %p0, %r0, 0f3F800000;\n"
      "setp.lt.and.f32 %p1|%p2, %r0, %r1, %p0;\nsetp.lt.or.f32 %p3|%p4, %r0, %r1, !%p0;\n"
      "selp.u32 %r2, 1, 0, %p1;\nselp.u32 %r3, 2, 0, %p2;\nselp.u32 %r4, 4, 0, %p3;\nselp.u32 %r5, 8, 0, %p4;\n"
      "or.b32 %r2, %r2, %r3;\nor.b32 %r4, %r4, %r5;\nor.b32 %r2, %r2, %r4;\nst.global.u32 [%d3], %r2;\n",
      a, b);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float x = host::as_float(a[i]), y = host::as_float(b[i]);
    const bool less = x<y, above = x> 1;
    const std::uint32_t expected =
        (less && above ? 1 : 0) + (!less && above ? 2 : 0) + (less || !above ? 4 : 0) + (!less || !above ? 8 : 0);
    ASSERT_EQ(static_cast<std::uint32_t>(got[i]), expected) << x << ' ' << y;
  }
}

TEST(Instructions, PackedComparisonHasAPredicateAHalf) {
  const auto a = drawn(3, "f16x2"), b = drawn(4, "f16x2");
  const auto got = run_body(
      "ld.global.b32 %r0, [%d0];\nld.global.b32 %r1, [%d1];\nsetp.ltu.f16x2 %p0|%p1, %r0, %r1;\nselp.u32 %r2, 1, 0, %p0;\nselp.u32 "
      "%r3, 2, 0, %p1;\nor.b32 %r2, "
      "%r2, %r3;\nset.ltu.f16x2.f16x2 %r4, %r0, %r1;\nst.global.v2.u32 [%d3], {%r2, %r4};\n",
      a, b);
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::uint64_t expected = 0;
    for (int half = 0; half < 2; ++half) {
      const long double x = host::decode(a[i] >> (16 * half) & 0xffff, host::kHalf),
                        y = host::decode(b[i] >> (16 * half) & 0xffff, host::kHalf);
      if (!(x >= y)) expected |= (std::uint64_t{1} << half) | std::uint64_t{0x3c00} << (32 + 16 * half);
    }
    ASSERT_EQ(got[i], expected) << i;
  }
}

TEST(Instructions, CarriesJoinHalvesOfLongNumbers) {
  const auto a = drawn(5, "u64"), b = drawn(6, "u64");
  // a * b from 32-bit products, then plus a, minus b, all with carries.
  const auto got = run_body(
      "ld.global.v2.u32 {%r0, %r1}, [%d0];\nld.global.v2.u32 {%r2, %r3}, [%d1];\n"
      "mul.lo.u32 %r4, %r0, %r2;\nmul.hi.u32 %r5, %r0, %r2;\nmad.lo.u32 %r5, %r0, %r3, %r5;\nmad.lo.u32 %r5, %r1, %r2, %r5;\n"
      "add.cc.u32 %r4, %r4, %r0;\naddc.u32 %r5, %r5, %r1;\nsub.cc.u32 %r4, %r4, %r2;\nsubc.u32 %r5, %r5, %r3;\n"
      "mad.lo.cc.u32 %r4, %r0, %r2, %r4;\nmadc.hi.u32 %r5, %r0, %r2, %r5;\nst.global.v2.u32 [%d3], {%r4, %r5};\n",
      a, b);
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], a[i] * b[i] + a[i] - b[i] + (a[i] & 0xffffffff) * (b[i] & 0xffffffff));
}

TEST(Instructions, EveryTableOfLop3) {
  const auto a = drawn(7, "b32"), b = drawn(8, "b32");
  for (unsigned table = 1; table < 256; table += 11) {
    const auto got = run_body(
        "ld.global.b32 %r0, [%d0];\nld.global.b32 %r1, [%d1];\nnot.b32 %r2, %r0;\nshr.u32 %r2, %r2, 3;\nlop3.b32 %r3, %r0, %r1, "
        "%r2, " +
            std::to_string(table) + ";\nst.global.b32 [%d3], %r3;\n",
        a, b);
    for (std::size_t i = 0; i < got.size(); i += 16) {
      const auto x = static_cast<std::uint32_t>(a[i]), y = static_cast<std::uint32_t>(b[i]), z = ~x >> 3;
      std::uint32_t expected = 0;
      for (unsigned bit = 0; bit < 32; ++bit)
        expected |= (table >> ((x >> bit & 1) << 2 | (y >> bit & 1) << 1 | (z >> bit & 1)) & 1) << bit;
      ASSERT_EQ(static_cast<std::uint32_t>(got[i]), expected) << table;
    }
  }
}

TEST(Instructions, LanesThatAreOffKeepTheirRegisters) {
  const auto a = drawn(9, "f32"), b = drawn(10, "f32");
  const auto got = run_body(
      "ld.global.f32 %r0, [%d0];\nld.global.f32 %r1, [%d1];\nmov.b32 %r2, 77;\nsetp.lt.f32 %p0, %r0, %r1;\n@%p0 add.f32 %r2, %r0, "
      "%r1;\n"
      "@!%p0 cvt.rzi.s32.f32 %r2, %r0;\nst.global.b32 [%d3], %r2;\n",
      a, b);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float x = host::as_float(a[i]), y = host::as_float(b[i]);
    const std::uint64_t expected = x < y ? host::bits_of(x + y) : host::integer_bits("s32", "f32", std::trunc(x));
    ASSERT_EQ(got[i] & 0xffffffff, expected);
  }
}

TEST(Instructions, WhatIsNotSupportedIsNamedWithItsLine) {
  Device device;
  const auto module = device.load(
      std::string(kModuleHead) + ".visible .entry k()\n{\n.reg .b32 %r<4>;\nfrobnicate.u32 %r0, %r1;\nret;\n}\n", "odd");
  if (!module) {
    EXPECT_NE(module.error().message.find("frobnicate"), std::string::npos) << module.error().message;
    EXPECT_NE(module.error().message.find('7'), std::string::npos) << module.error().message;
    return;
  }
  const auto function = device.kernel(**module, "k");
  ASSERT_TRUE(function);
  const auto report = device.launch(**function, {1, 1, 1}, {32, 1, 1}, 0, {});
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].kind, "unsupported");
  EXPECT_EQ(report->findings[0].ptx_line, 7);
}

TEST(Instructions, RandomProgramsEndWithAReport) {
  std::mt19937 random(19);
  for (int i = 0; i < 40; ++i) {
    std::vector<std::uint8_t> recipe(1 + random() % 200);
    for (auto& byte : recipe) byte = static_cast<std::uint8_t>(random());
    recipe[0] |= 1;
    ASSERT_EQ(fuzz::try_ptx(recipe.data(), recipe.size()), "");
  }
}

TEST(Instructions, DamagedTextsAreRefusedOrRun) {
  std::mt19937 random(23);
  for (const auto& entry : std::filesystem::directory_iterator(kw::testing::tests_folder() / "fuzz/corpus/ptx")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (int i = 0; i < 25; ++i) {
      std::string damaged = text;
      for (unsigned changes = random() % 4; changes > 0 && damaged.size() > 2; --changes) {
        const std::size_t at = 1 + random() % (damaged.size() - 1), length = random() % 9;
        if (random() % 2 == 0)
          damaged.erase(at, length);
        else if (random() % 2 == 0)
          damaged[at] = static_cast<char>(random());
        else
          damaged.insert(at, text, random() % text.size(), length);
      }
      ASSERT_EQ(fuzz::try_ptx(reinterpret_cast<const std::uint8_t*>(damaged.data()), damaged.size()), "") << damaged;
    }
  }
}

}  // namespace
}  // namespace kw::vgpu
