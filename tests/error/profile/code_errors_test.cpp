#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "profile/counters.h"
#include "profile/loops.h"
#include "profile/mca.h"

namespace kw {
namespace {

TEST(ProfileErrors, AFileThatIsNoObjectIsNamed) {
  const auto folder = TempFolder::make("kw-profile-test");
  ASSERT_TRUE(folder.ok());
  const fs::path file = folder->path() / "text.so";
  ASSERT_TRUE(write_file_atomically(file, "no object\n").ok());
  for (const fs::path& path : {file, folder->path() / "missing.so"}) {
    const auto code = disassemble(path);
    ASSERT_FALSE(code.ok());
    EXPECT_NE(code.error().message.find(path.filename().string()), std::string::npos) << code.error().message;
    EXPECT_FALSE(read_code(path).ok());
  }
}

TEST(ProfileErrors, OtherTextIsNoDisassembly) {
  EXPECT_FALSE(parse_disassembly("").ok());
  EXPECT_FALSE(parse_disassembly("hello\n  12: nothing\n").ok());
}

TEST(ProfileErrors, DamagedListingsAreReadAsFarAsTheyGo) {
  const auto code = parse_disassembly(
      "k.so:     file format elf64-x86-64\nDisassembly of section .text:\n\n0000000000001000 <kw_kernel>:\n    1000:\t(bad)\n"
      "    zz: ret\n    1001:\tjmp    \n    1002:\tjne    1000 <kw_kernel\n    1003:\n    1004\n0000000000002000 <empty>:\n");
  ASSERT_TRUE(code.ok());
  ASSERT_EQ(code->functions.size(), 1u);
  EXPECT_EQ(code->functions[0].instructions.size(), 3u);
  EXPECT_NO_THROW(innermost_loops(*code));
  EXPECT_EQ(code_text(*code).hash.size(), 64u);
}

TEST(ProfileErrors, AnUnknownProcessorsCodeHasNoCounts) {
  const auto code = parse_disassembly(
      "k.so:     file format elf64-littleriscv\nDisassembly of section .text:\n\n00001000 <kw_kernel>:\n    1000:\tret\n");
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->isa, "");
  EXPECT_TRUE(innermost_loops(*code).empty());
}

TEST(ProfileErrors, AReportOfMcaWithoutNumbersIsNothing) {
  EXPECT_FALSE(parse_mca("").has_value());
  EXPECT_FALSE(parse_mca("Iterations: 100\nTotal Cycles: many\n").has_value());
  EXPECT_FALSE(parse_mca("Iterations: 0\nTotal Cycles: 1\nBlock RThroughput: 1\nIPC: 1\n").has_value());
  EXPECT_FALSE(simulate({}, "riscv").has_value());
}

TEST(ProfileErrors, AProcessThatIsNotThereHasNoCounters) {
  const auto counters = Counters::open(0x3fffffff);
  ASSERT_FALSE(counters.ok());
  EXPECT_NE(counters.error().message.find(std::to_string(0x3fffffff)), std::string::npos);
}

}  // namespace
}  // namespace kw
