#include <gtest/gtest.h>

#include "suite/problem_folder.h"
#include "suite/scaling.h"
#include "suite/suite_journal.h"

namespace kw {
namespace {

constexpr const char* kProblem = "class Model:\n  pass\ndef get_inputs():\n  return []\n";

TempFolder folder() { return std::move(TempFolder::make("kw-suite")).value(); }

void put(const fs::path& file, const std::string& text) {
  ASSERT_TRUE(make_folders(file.parent_path()));
  ASSERT_TRUE(write_file_atomically(file, text));
}

SuiteRecord wanted() {
  SuiteRecord record;
  record.name = "set";
  record.problems = {"level1/2_a", "level1/10_b", "level2/1_c"};
  return record;
}

SuiteRow row(const std::string& problem, double eager, double compile = 0) {
  SuiteRow made;
  made.problem = problem;
  made.hash = "h";
  made.outcome = eager > 0 ? "passed" : "failed";
  made.eager = {eager, {eager * 0.9, eager * 1.1}};
  made.compile = {compile, {compile, compile}};
  return made;
}

TEST(ProblemFolder, CountsAsPeopleDo) {
  EXPECT_TRUE(counts_before("level1/2_a", "level1/10_b"));
  EXPECT_FALSE(counts_before("level1/10_b", "level1/2_a"));
  EXPECT_TRUE(counts_before("level1/99_z", "level2/1_a"));
  EXPECT_TRUE(counts_before("a", "a1"));
  EXPECT_FALSE(counts_before("a", "a"));
  EXPECT_TRUE(counts_before("01", "1"));
  EXPECT_FALSE(counts_before("1", "01"));
}

TEST(ProblemFolder, FindsProblemsInAllFoldersAndNamesWhatIsNone) {
  const TempFolder home = folder();
  put(home.path() / "level1/10_b.py", kProblem);
  put(home.path() / "level1/2_a.py", kProblem);
  put(home.path() / "level2/1_c.py", kProblem);
  put(home.path() / "level1/tools.py", "x = 1\n");
  put(home.path() / "level1/__init__.py", kProblem);
  put(home.path() / ".git/hook.py", kProblem);
  put(home.path() / "notes.txt", kProblem);
  const auto found = problems_in(home.path());
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::string> names;
  for (const FolderProblem& problem : found->problems) names.push_back(problem.name);
  EXPECT_EQ(names, (std::vector<std::string>{"level1/2_a", "level1/10_b", "level2/1_c"}));
  EXPECT_EQ(found->skipped, std::vector<std::string>{"level1/tools.py"});
}

TEST(ProblemFolder, OneFileIsAFolderWithOneProblem) {
  const TempFolder home = folder();
  put(home.path() / "7_x.py", kProblem);
  const auto found = problems_in(home.path() / "7_x.py");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->problems.size(), 1u);
  EXPECT_EQ(found->problems[0].name, "7_x");
}

TEST(ProblemFolder, WhatCannotBeReadOrNamedIsAProblemWithAFlaw) {
  const TempFolder home = folder();
  put(home.path() / "1_a.py", kProblem);
  put(home.path() / "3_caf\xe9.py", kProblem);
  fs::create_symlink("nowhere.py", home.path() / "2_gone.py");
  const auto found = problems_in(home.path());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->problems.size(), 3u);
  EXPECT_EQ(found->problems[0].flaw, "");
  EXPECT_NE(found->problems[1].flaw.find("2_gone.py"), std::string::npos);
  EXPECT_EQ(found->problems[2].name, "3_caf\xef\xbf\xbd");  // U+FFFD: records are text
  EXPECT_NE(found->problems[2].flaw.find("UTF-8"), std::string::npos);
}

TEST(ProblemFolder, ResultsOfABenchAreNoProblems) {
  const TempFolder home = folder();
  put(home.path() / "level1/1_a.py", kProblem);
  put(home.path() / "level1-bench/problems/1_a.py", kProblem);
  put(home.path() / "level1-bench/results.json", "{}");
  const auto found = problems_in(home.path());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->problems.size(), 1u);
  EXPECT_EQ(found->problems[0].name, "level1/1_a");
}

TEST(ProblemFolder, SaysWhatIsMissing) {
  const TempFolder home = folder();
  put(home.path() / "notes.md", kProblem);
  EXPECT_EQ(problems_in(home.path() / "notes.md").error().kind, ErrorKind::bad_input);
  EXPECT_EQ(problems_in(home.path() / "none").error().kind, ErrorKind::bad_input);
  EXPECT_NE(problems_in(home.path()).error().message.find("no problems"), std::string::npos);
}

TEST(SuiteJournal, KeepsRowsInTheOrderOfTheProblems) {
  const TempFolder home = folder();
  {
    auto journal = SuiteJournal::open(home.path(), wanted(), {});
    ASSERT_TRUE(journal) << journal.error().message;
    for (const char* name : {"level2/1_c", "level1/2_a"}) {
      ASSERT_TRUE(journal->begin(name, "h"));
      ASSERT_TRUE(journal->end(row(name, 2)));
    }
  }
  auto again = SuiteJournal::open(home.path(), wanted(), {});
  ASSERT_TRUE(again);
  ASSERT_EQ(again->record().rows.size(), 2u);
  EXPECT_EQ(again->record().rows[0].problem, "level1/2_a");
  EXPECT_NE(again->row_of("level2/1_c", "h"), nullptr);
  EXPECT_EQ(again->row_of("level2/1_c", "another text"), nullptr);
  EXPECT_FALSE(again->record().under_way);
}

TEST(SuiteJournal, RemembersTheRunUnderWay) {
  const TempFolder home = folder();
  {
    auto journal = SuiteJournal::open(home.path(), wanted(), {});
    ASSERT_TRUE(journal->begin("level1/2_a", "h"));
    ASSERT_TRUE(journal->scaled("rows 64 -> 8"));
    ASSERT_TRUE(journal->note("12", 0));
  }
  auto again = SuiteJournal::open(home.path(), wanted(), {});
  ASSERT_TRUE(again->record().under_way);
  EXPECT_EQ(again->record().under_way->run, "12");
  EXPECT_EQ(again->record().under_way->scaling, "rows 64 -> 8");
  ASSERT_TRUE(again->begin("level1/2_a", "h"));
  EXPECT_EQ(again->record().under_way->sessions, 2);
  ASSERT_TRUE(again->note("12", 3));  // it got further: earlier sessions are forgiven
  EXPECT_EQ(again->record().under_way->sessions, 1);
  ASSERT_TRUE(again->pause());
  EXPECT_EQ(again->record().under_way->sessions, 0);
  ASSERT_TRUE(again->begin("level1/2_a", "changed"));
  EXPECT_EQ(again->record().under_way->run, "");
}

TEST(SuiteJournal, RefusesResultsOfOtherSettings) {
  const TempFolder home = folder();
  ASSERT_TRUE(SuiteJournal::open(home.path(), wanted(), {}));
  SuiteRecord other = wanted();
  other.settings.seconds = 5;
  const auto refused = SuiteJournal::open(home.path(), other, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("seconds 60.0 there, 5.0 now"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(SuiteJournal::open(home.path(), other, other.problems));
  put(home.path() / "results.json", "{\"rows\": 3}");
  EXPECT_EQ(SuiteJournal::open(home.path(), other, {}).error().kind, ErrorKind::bad_input);
}

TEST(SuiteJournal, HasItsFolderAlone) {
  const TempFolder home = folder();
  {
    const auto first = SuiteJournal::open(home.path(), wanted(), {});
    ASSERT_TRUE(first);
    const auto second = SuiteJournal::open(home.path(), wanted(), {});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("another bench"), std::string::npos) << second.error().message;
  }
  EXPECT_TRUE(SuiteJournal::open(home.path(), wanted(), {}));
}

TEST(SuiteJournal, ForgetsOnlyWhatIsSearchedAnew) {
  const TempFolder home = folder();
  {
    auto journal = SuiteJournal::open(home.path(), wanted(), {});
    for (const char* name : {"level1/2_a", "level1/10_b"}) {
      ASSERT_TRUE(journal->begin(name, "h"));
      ASSERT_TRUE(journal->end(row(name, 2)));
    }
    ASSERT_TRUE(journal->begin("level2/1_c", "h"));
  }
  const std::vector<std::string> anew{"level1/2_a"};
  {
    const auto journal = SuiteJournal::open(home.path(), wanted(), anew);
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->row_of("level1/2_a", "h"), nullptr);
    EXPECT_NE(journal->row_of("level1/10_b", "h"), nullptr);
    EXPECT_TRUE(journal->record().under_way);
  }
  SuiteRecord other = wanted();
  other.settings.seconds = 5;
  EXPECT_EQ(SuiteJournal::open(home.path(), other, anew).error().kind, ErrorKind::bad_input);  // the others' rows would be lost
}

TEST(SuiteJournal, RefusesResultsOfAnotherMachineAndNamesEveryPyTorch) {
  const TempFolder home = folder();
  SuiteRecord here = wanted();
  here.machine = "a CPU, 2 cores";
  {
    auto journal = SuiteJournal::open(home.path(), here, {});
    for (const char* version : {"2.9.0", "2.9.0", "2.9"}) ASSERT_TRUE(journal->add_torch(version));
    EXPECT_EQ(journal->record().torch_version, "2.9.0, 2.9");
    ASSERT_TRUE(journal->begin("level1/2_a", "h"));
    ASSERT_TRUE(journal->end(row("level1/2_a", 2)));
  }
  SuiteRecord other = here;
  other.machine = "another CPU, 64 cores";
  const auto refused = SuiteJournal::open(home.path(), other, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another CPU, 64 cores"), std::string::npos) << refused.error().message;
}

TEST(SuiteJournal, AFolderThatCannotBeWrittenIsBadInput) {
  const TempFolder home = folder();
  put(home.path() / "file", "");
  const auto refused = SuiteJournal::open(home.path() / "file", wanted(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_NE(refused.error().hint.find("--out"), std::string::npos);
}

TEST(SuiteJournal, ReadsResultsThatDoNotSayASize) {
  SuiteRecord record = wanted();
  record.under_way = SuiteUnderWay{"level1/2_a", "h", "12", "", 1, 3};
  Json json = record;
  json["under_way"].erase("scaling");
  EXPECT_EQ(json.get<SuiteRecord>().under_way->run, "12");
}

TEST(SuiteJournal, KeepsMessagesThatAreNoText) {
  const TempFolder home = folder();
  {
    auto journal = SuiteJournal::open(home.path(), wanted(), {});
    SuiteRow failed = row("level1/2_a", 0);
    failed.message = "the compiler says \xff";
    ASSERT_TRUE(journal->begin("level1/2_a", "h"));
    ASSERT_TRUE(journal->end(failed));
  }
  EXPECT_TRUE(SuiteJournal::open(home.path(), wanted(), {}));
}

TEST(SuiteTotals, TheMedianOfAnEvenCountIsHalfwayBetweenTheMiddleTwo) {
  SuiteRecord suite = wanted();
  suite.rows = {row("level1/2_a", 8), row("level1/10_b", 2)};
  EXPECT_DOUBLE_EQ(totals_of(suite).eager.median, 5);  // as spreadsheets count
}

TEST(SuiteTotals, CountProblemsThatDidNotPass) {
  SuiteRecord suite = wanted();
  suite.problems.push_back("level2/2_d");
  suite.rows = {row("level1/2_a", 0.5, 0.5), row("level1/10_b", 2, 1), row("level2/1_c", 0), row("level2/2_d", 8, 2)};
  const SuiteTotals totals = totals_of(suite);
  EXPECT_EQ(totals.done, 4);
  EXPECT_EQ(totals.passed, 3);
  EXPECT_NEAR(totals.eager.geometric, 2, 1e-9);
  EXPECT_NEAR(totals.eager.median, 2, 1e-9);
  EXPECT_NEAR(totals.compile.geometric, 1, 1e-9);
  EXPECT_NEAR(totals.compile_over_eager, 2, 1e-9);
  EXPECT_EQ(totals.eager.slowest->problem, "level1/2_a");
  EXPECT_EQ(totals.eager.fastest->problem, "level2/2_d");
  std::vector<int> counts;
  for (const FastShare& share : totals.fast) counts.push_back(share.problems);
  EXPECT_EQ(counts, (std::vector<int>{3, 2, 2, 2, 2, 1, 1}));  // more than 0 (correct), 0.5, 0.8, 1, 1.5, 2, 4
  EXPECT_DOUBLE_EQ(totals.fast[3].share, 0.5);
}

TEST(ScaleLimits, AreTimesAndSizes) {
  const auto both = scale_limits({"100ms", "2GiB"});
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(both->seconds, 0.1);
  EXPECT_DOUBLE_EQ(both->bytes, 2147483648.0);
  EXPECT_FALSE(scale_limits({})->any());
  EXPECT_EQ(scale_limits({"100ms", "1s"}).error().kind, ErrorKind::bad_input);
  for (const char* wrong : {"", "100", "ms", "-1s", "0s", "2 GiB", "nans", "1e999s", "5parsecs"})
    EXPECT_EQ(scale_limits({wrong}).error().kind, ErrorKind::bad_input) << wrong;
}

}  // namespace
}  // namespace kw
