// Every row through the functions over lanes alone, once as compiled for this processor and once as compiled for any; and that
// everything that isn't in the tables is refused.
#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string_view>

#include "instruction_rows.h"
#include "vgpu/sem_hot.h"

namespace kw::vgpu {
namespace {

struct alignas(64) LaneRegister {
  std::uint64_t words[kLanes] = {};
  void set(int lane, int width, std::uint64_t value) {
    if (width == 1)
      words[0] |= value << lane;
    else if (width == 64)
      words[lane] = value;
    else
      reinterpret_cast<std::uint32_t*>(words)[lane] = static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] std::uint64_t get(int lane, int width) const {
    if (width == 1) return words[0] >> lane & 1;
    return width == 64 ? words[lane] : reinterpret_cast<const std::uint32_t*>(words)[lane];
  }
};

std::vector<std::string_view> split_at_dots(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}
Semantics semantics_of(std::string_view name) {
  const auto parts = split_at_dots(name);
  return find_semantics(parts[0], std::span(parts).subspan(1));
}

void check_rows(const std::vector<host::Row>& rows) {
  for (const host::Row& row : rows) {
    const Semantics semantics = semantics_of(row.name);
    ASSERT_NE(semantics.lane, nullptr) << row.name;
    const auto cases = host::cases_of(row);
    int wrong = 0;
    for (int first = 0; first < static_cast<int>(cases[0].size()) && wrong < 3; first += kLanes) {
      LaneRegister sources[4], result;
      // Of narrow values the upper bits are anything.
      for (std::size_t i = 0; i < row.sources.size(); ++i) {
        const int width = host::width_of(row.sources[i]);
        for (int lane = 0; lane < kLanes; ++lane)
          sources[i].set(lane, width,
                         cases[i][first + lane] | (width < 32 && width > 1 ? 0xabcd0000U | (width == 8 ? 0x5500U : 0U) : 0U));
      }
      LaneExtra extra;
      extra.d = sources[3].words;
      extra.immediate = semantics.immediate;
      semantics.lane(result.words, sources[0].words, sources[1].words, sources[2].words, extra);
      for (int lane = 0; lane < kLanes; ++lane) {
        std::uint64_t values[4] = {};
        for (std::size_t i = 0; i < row.sources.size(); ++i) values[i] = cases[i][first + lane];
        const std::string complaint = host::judge(row, values, result.get(lane, host::width_of(row.result)));
        if (!complaint.empty() && ++wrong <= 3) ADD_FAILURE() << complaint;
      }
    }
  }
}

class Semantics_ : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { portable_only() = GetParam(); }
  void TearDown() override { portable_only() = false; }
};

TEST_P(Semantics_, Integers) { check_rows(host::integer_rows()); }
TEST_P(Semantics_, Bits) { check_rows(host::bit_rows()); }
TEST_P(Semantics_, Floats) { check_rows(host::float_rows()); }
TEST_P(Semantics_, Halves) { check_rows(host::half_rows()); }
TEST_P(Semantics_, SpecialFunctions) { check_rows(host::special_rows()); }
TEST_P(Semantics_, Comparisons) { check_rows(host::compare_rows()); }
TEST_P(Semantics_, Conversions) { check_rows(host::convert_rows()); }

INSTANTIATE_TEST_SUITE_P(Vgpu, Semantics_, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "AnyProcessor" : "ThisProcessor"; });

TEST(Semantics, WhatIsNotInTheTablesIsRefused) {
  for (const char* name : {"add",
                           "add.f8",
                           "add.rn",
                           "add.rx.f32",
                           "add.approx.f32",
                           "mul.u32",
                           "mul.sat.lo.u32",
                           "fma.f32.f32",
                           "div.f32",
                           "div.approx.f64",
                           "ex2.f32",
                           "min.NaN.f64",
                           "max.sat.f32",
                           "cvt.s32.f32",
                           "cvt.f32.s32",
                           "cvt.rn.s32.f32",
                           "cvt.rn.e4m3x2.f32",
                           "setp.f32",
                           "setp.lo.f64.f64",
                           "setp.num.s32",
                           "shl.u32",
                           "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                           "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
                           "mma.sync.aligned.m16n8k16.row.col.f64.f16.f16.f64",
                           "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32",
                           "frobnicate.u32",
                           "rcp.f32",
                           "sin.f32",
                           "abs.u32",
                           "neg.u16",
                           "addc.u16",
                           "copysign.f16",
                           "fma.rn.oob.f16"})
    EXPECT_TRUE(semantics_of(name).lane == nullptr && semantics_of(name).fragment == nullptr) << name;
}

TEST(Semantics, CarryGoesFromLaneToLaneOfChains) {
  // 128-bit addition and subtraction of 64-bit halves, and 64-bit products added up from 32-bit ones, against __int128.
  std::mt19937_64 random(7);
  LaneRegister a[2], b[2], sum[2], difference[2];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int half = 0; half < 2; ++half) {
      const auto draw = [&] { return random() % 3 == 0 ? (random() % 2 == 0 ? ~std::uint64_t{0} : 0) : random(); };
      a[half].words[lane] = draw();
      b[half].words[lane] = draw();
    }
  std::uint32_t carry = 0x5a5a5a5a;
  LaneExtra extra;
  extra.carry = &carry;
  const auto run = [&](const char* name, LaneRegister& to, const LaneRegister& x, const LaneRegister& y) {
    const Semantics semantics = semantics_of(name);
    ASSERT_NE(semantics.lane, nullptr) << name;
    semantics.lane(to.words, x.words, y.words, nullptr, extra);
  };
  run("add.cc.u64", sum[0], a[0], b[0]);
  run("addc.cc.u64", sum[1], a[1], b[1]);
  const std::uint32_t carried = carry;
  run("sub.cc.s64", difference[0], a[0], b[0]);
  run("subc.cc.s64", difference[1], a[1], b[1]);
  for (int lane = 0; lane < kLanes; ++lane) {
    __extension__ using U = unsigned __int128;
    const auto join = [lane](const LaneRegister* parts) {
      return static_cast<U>(parts[1].words[lane]) << 64 | parts[0].words[lane];
    };
    EXPECT_TRUE(join(sum) == join(a) + join(b));
    EXPECT_TRUE(join(difference) == join(a) - join(b));
    EXPECT_EQ(carried >> lane & 1, join(a) + join(b) < join(a) ? 1U : 0U);
    EXPECT_EQ(carry >> lane & 1, join(a) < join(b) ? 1U : 0U);
  }
  for (const char* name :
       {"mad.lo.cc.u32", "madc.hi.u32", "madc.lo.cc.u64", "mad.hi.cc.s32", "madc.hi.cc.u32", "subc.u32", "addc.s32"})
    EXPECT_NE(semantics_of(name).lane, nullptr) << name;
}

// Errors of the approximations against long double, over many values: what docs/ptx-support.md says.
TEST(Semantics, AccuracyOfApproximations) {
  struct Function {
    const char* name;
    long double (*truth)(long double);
    float low, high;
    bool absolute;
    long double bound;  // PTX's, as ulp of float32 or absolute
  };
  const Function functions[] = {
      {"ex2.approx.f32", [](long double x) { return std::exp2(x); }, -120, 120, false, 2},
      {"lg2.approx.f32", [](long double x) { return std::log2(x); }, 1e-30F, 1e30F, false, 2},
      {"sin.approx.f32", [](long double x) { return std::sin(x); }, -3.1415925F, 3.1415925F, true, 0x1p-20L},
      {"cos.approx.f32", [](long double x) { return std::cos(x); }, -3.1415925F, 3.1415925F, true, 0x1p-20L},
      {"tanh.approx.f32", [](long double x) { return std::tanh(x); }, -9, 9, false, 4096},
      {"rcp.approx.f32", [](long double x) { return 1 / x; }, 1e-30F, 1e30F, false, 1},
      {"sqrt.approx.f32", [](long double x) { return std::sqrt(x); }, 1e-30F, 1e30F, false, 1},
      {"rsqrt.approx.f32", [](long double x) { return 1 / std::sqrt(x); }, 1e-30F, 1e30F, false, 2},
  };
  for (const Function& function : functions) {
    const Semantics semantics = semantics_of(function.name);
    std::mt19937 random(3);
    long double worst = 0;
    for (int round = 0; round < 2000; ++round) {
      LaneRegister a, d;
      float x[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const double u = random() * 0x1p-32;
        const double low = function.low, high = function.high;
        x[lane] = static_cast<float>(low > 0 ? low * std::pow(high / low, u) : low + (high - low) * u);
        a.set(lane, 32, std::bit_cast<std::uint32_t>(x[lane]));
      }
      semantics.lane(d.words, a.words, nullptr, nullptr, LaneExtra{});
      for (int lane = 0; lane < kLanes; ++lane) {
        const long double truth = function.truth(x[lane]), error = std::fabs(host::as_float(d.get(lane, 32)) - truth);
        worst = std::max(worst, function.absolute ? error : error / std::ldexp(1.0L, std::max(std::ilogb(truth), -126) - 23));
      }
    }
    std::printf("%-18s worst error %.3Lg %s\n", function.name, worst, function.absolute ? "absolute" : "ulp");
    EXPECT_LE(worst, function.bound) << function.name;
  }
}

TEST(Semantics, AtomicSteps) {
  const auto step = [](const char* op, Type type, std::uint64_t old, std::uint64_t value) {
    const AtomicFn f = find_atomic(op, type);
    return f == nullptr ? 0xdeadbeefdeadbeefULL : f(old, value);
  };
  EXPECT_EQ(step("add", Type::u32, 0xffffffff, 3), 2U);
  EXPECT_EQ(step("add", Type::u64, 0xffffffff, 3), 0x100000002ULL);
  EXPECT_EQ(step("min", Type::s32, 0xffffffff, 3), 0xffffffffU);
  EXPECT_EQ(step("min", Type::u32, 0xffffffff, 3), 3U);
  EXPECT_EQ(step("max", Type::s64, ~0ULL, 3), 3U);
  EXPECT_EQ(step("and", Type::b32, 12, 10), 8U);
  EXPECT_EQ(step("or", Type::b64, 12, 10), 14U);
  EXPECT_EQ(step("xor", Type::b32, 12, 10), 6U);
  EXPECT_EQ(step("exch", Type::b32, 12, 10), 10U);
  EXPECT_EQ(step("inc", Type::u32, 4, 5), 5U);
  EXPECT_EQ(step("inc", Type::u32, 5, 5), 0U);
  EXPECT_EQ(step("dec", Type::u32, 0, 5), 5U);
  EXPECT_EQ(step("dec", Type::u32, 7, 5), 5U);
  EXPECT_EQ(step("dec", Type::u32, 3, 5), 2U);
  EXPECT_EQ(step("add", Type::f32, 0x3f800000, 0x40000000), 0x40400000U);
  EXPECT_EQ(step("add", Type::f64, std::bit_cast<std::uint64_t>(1.5), std::bit_cast<std::uint64_t>(2.25)),
            std::bit_cast<std::uint64_t>(3.75));
  EXPECT_EQ(step("add", Type::f16x2, 0x3c003c00, 0x40004000), 0x42004200U);
  EXPECT_EQ(step("add", Type::bf16x2, 0x3f803f80, 0x40004000), 0x40404040U);
  EXPECT_EQ(step("max", Type::f16, 0x3c00, 0xc000), 0x3c00U);
  EXPECT_EQ(find_atomic("inc", Type::s32), nullptr);
  EXPECT_EQ(find_atomic("and", Type::f32), nullptr);
  EXPECT_EQ(find_atomic("add", Type::pred), nullptr);
}

}  // namespace
}  // namespace kw::vgpu
