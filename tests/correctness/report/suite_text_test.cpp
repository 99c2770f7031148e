#include "report/suite_text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace kw {
namespace {

SuiteRow row(const std::string& problem, double eager) {
  SuiteRow made;
  made.problem = problem;
  made.outcome = "passed";
  made.author = "a-model-with-a-long-name-32b";
  made.zone = "memory";
  made.seconds = 1.5e-3;
  made.share_of_ceiling = 0.3;
  made.eager = made.compile = {eager, {eager * 0.95, eager * 1.05}};
  return made;
}

SuiteRecord suite(std::vector<SuiteRow> rows) {
  SuiteRecord record;
  for (const SuiteRow& each : rows) record.problems.push_back(each.problem);
  record.rows = std::move(rows);
  return record;
}

std::vector<std::string> table_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line) && !line.empty();) lines.push_back(line);
  return lines;
}

const std::string kLong = "level2/82_Conv2d_Tanh_Scaling_BiasAdd_Max_ConvTranspose2d_Multiply_Add";

TEST(SuiteText, ATableFitsItsTerminal) {
  const SuiteRecord record = suite({row(kLong, 123.4), row("level1/1_a", 0.5)});
  for (const std::size_t width : {80, 100, 120, 160})
    for (const std::string& line : table_lines(suite_text(record, {}, width))) EXPECT_LE(line.size(), width) << line;
  const std::string narrow = suite_text(record, {}, 80);
  EXPECT_NE(narrow.find("level2/82_"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("123.40x (117.23 to 129.57)"), std::string::npos) << narrow;
}

TEST(SuiteText, NothingIsLeftOutOfAFile) {
  const auto lines = table_lines(suite_text(suite({row(kLong, 2)}), {}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[1].starts_with(kLong + "  passed"));
  EXPECT_NE(lines[1].find("a-model-with-a-long-name-32b"), std::string::npos);
}

TEST(SuiteText, EagerIsFasterOnlyWhereTheIntervalSaysSo) {
  EXPECT_NE(suite_text(suite({row("a", 0.5)}), {}).find("eager is faster: it reaches 60% of the ceiling (memory), this kernel 30%"),
            std::string::npos);
  EXPECT_EQ(suite_text(suite({row("a", 0.97)}), {}).find("eager is faster"), std::string::npos);
}

TEST(SuiteText, ALossPassesAndIsCalledOne) {
  SuiteRow by_compile = row("b", 1.5);
  by_compile.compile = {0.8, {0.78, 0.82}};
  const SuiteRecord record = suite({row("a", 0.5), by_compile, row("c", 3), row("d", 1)});
  const std::string text = suite_text(record, {});
  EXPECT_NE(text.find("1 faster, 2 slower, 1 without a clear difference"), std::string::npos) << text;
  EXPECT_NE(text.find("b: torch.compile is faster: the kernel has 0.80x its speed"), std::string::npos) << text;
  EXPECT_NE(suite_line(record.rows[0], {}).find("passed, but PyTorch is faster"), std::string::npos);
  EXPECT_EQ(suite_line(record.rows[2], {}).find("but"), std::string::npos);
  EXPECT_EQ(Json(record).at("rows").at(1).at("standing"), "slower");
  EXPECT_EQ(Json(totals_of(record)).at("slower"), 2);
  EXPECT_NE(suite_csv(record).find(",slower\n"), std::string::npos);
}

}  // namespace
}  // namespace kw
