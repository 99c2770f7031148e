// Texts that are no PTX, or that ask for what isn't there, are errors that name the line.
#include <gtest/gtest.h>

#include "vgpu/device.h"

namespace kw::vgpu {
namespace {

constexpr std::string_view kErrorHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string error_of(const std::string& text) {
  Device device;
  auto loaded = device.load(text, "bad.ptx");
  EXPECT_FALSE(loaded.ok()) << text;
  if (loaded.ok()) return {};
  EXPECT_EQ(loaded.error().kind, ErrorKind::bad_input);
  return loaded.error().message;
}

std::string body_error(const std::string& body) {
  return error_of(std::string(kErrorHead) + ".visible .entry k() {\n" + body + "\n}\n");
}

struct BadText {
  const char* body;
  const char* words;
};

TEST(VgpuErrors, BodiesThatAreWrong) {
  const BadText cases[] = {
      {".reg .b32 %r<3>;\nadd.u32 %r1, %r2, %r7;", "PTX line 6: there is no register '%r7'"},
      {".reg .b32 %r<3>;\nfrobnicate.u32 %r1, %r2;", "PTX line 6: the instruction frobnicate.u32 is not supported"},
      {".reg .b32 %r<3>;\nadd.u32 %r1, %r2;", "PTX line 6"},
      {"bra NOWHERE;", "NOWHERE"},
      {".reg .b32 %r<3>;\nadd.u32 %r1, %r2, %r2", "expected ','"},
      {".reg .b32 %r<3>;\nld.global.u32 %r1, %r2;", "PTX line 6"},
      {".reg .b32 %r<3>;\nmov.u32 %r1, nothing;", "there is nothing named 'nothing'"},
      {".reg .f32 %f<3>;\nmov.f32 %f1, 0f3F80;", "8 digits"},
      {".reg .weird %f<3>;", "no type"},
      {"L: L: ret;", "twice"},
      {"@%p1 bra L; L: ret;", "there is no register '%p1'"},
      {"{ { ret; }", "not closed"},
      {".reg .b32 %r<99999999>;", "registers"},
      {".local .align 3 .b8 x[4];", "power of two"},
      {".reg .b32 %r1;\ncall (r), f, (a);", "PTX line 6"},
      {".reg .b32 %r1;\ntex.1d.v4.f32.s32 {%r1,%r1,%r1,%r1}, [t, {%r1}];", "not supported"},
      {"\"text", "string"},
      {"/* open", "comment"},
      {"\x01", "0x01"},
  };
  for (const BadText& row : cases) {
    const std::string message = body_error(row.body);
    EXPECT_NE(message.find(row.words), std::string::npos) << row.body << "\n  gives: " << message;
  }
}

TEST(VgpuErrors, ModulesThatAreWrong) {
  EXPECT_NE(error_of("").find(".version"), std::string::npos);
  EXPECT_NE(error_of("hello world").find("PTX line 1"), std::string::npos);
  EXPECT_NE(error_of(std::string(kErrorHead) + ".global .u32 x = { 1, 2 };").find("initial values"), std::string::npos);
  EXPECT_NE(error_of(std::string(kErrorHead) + ".global .u64 x = other;").find("nothing named 'other'"), std::string::npos);
  EXPECT_NE(error_of(".version 8.0\n.target sm_80\n.address_size 32\n").find("64"), std::string::npos);
  EXPECT_NE(error_of(std::string(kErrorHead) + ".global .b8 x[9999999999999];").find("array"), std::string::npos);
}

TEST(VgpuErrors, DeviceCalls) {
  Device device;
  auto loaded = device.load(std::string(kErrorHead) + ".visible .entry k(.param .u64 x) { ret; }", "good.ptx");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_FALSE(device.kernel(**loaded, "other").ok());
  EXPECT_FALSE(device.symbol(**loaded, "x", nullptr).ok());
  auto kernel = device.kernel(**loaded, "k");
  ASSERT_TRUE(kernel.ok());
  EXPECT_FALSE(device.launch(**kernel, {1}, {32}, 0, {}).ok());
  auto memory = device.allocate(100, "hundred");
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(device.check_range(*memory + 50, 50).ok());
  EXPECT_FALSE(device.check_range(*memory + 50, 51).ok());
  EXPECT_EQ(device.find_allocation(*memory + 99).name, "hundred");
  EXPECT_EQ(device.find_allocation(*memory + 100).bytes, 0u);
  EXPECT_FALSE(device.release(*memory + 1).ok());
  EXPECT_TRUE(device.release(*memory).ok());
  EXPECT_FALSE(device.allocate(1ull << 50, "huge").ok());
  EXPECT_TRUE(device.unload(**loaded).ok());
}

}  // namespace
}  // namespace kw::vgpu
