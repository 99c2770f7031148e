#include "report/run_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kw {
namespace {

const Paint kNoPaint{false};

Individual individual(std::int64_t index, std::string origin, double speedup, std::vector<std::string> strategies,
                      std::vector<std::int64_t> parents = {}, KnobValues knobs = {}) {
  Individual result;
  result.index = index;
  result.proposal.origin = std::move(origin);
  result.proposal.parents = std::move(parents);
  result.proposal.knobs = std::move(knobs);
  result.proposal.generation = static_cast<int>(index) / 2;
  for (std::string& id : strategies) result.strategies.push_back({std::move(id), Presence::present, ""});
  result.verdict = Verdict::passed;
  result.speedup = speedup;
  result.seconds = 1e-3 / speedup;
  result.interval = {speedup - 0.1, speedup + 0.1};
  result.share_of_ceiling = speedup / 4;
  result.spent_seconds = 20;
  return result;
}

Individual failed(std::int64_t index, Verdict verdict, std::string diagnosis) {
  Individual result;
  result.index = index;
  result.proposal.origin = "mutation";
  result.verdict = verdict;
  result.diagnosis = std::move(diagnosis);
  result.spent_seconds = 10;
  return result;
}

RunRecord run() {
  RunRecord record;
  record.id = "3f2a";
  record.problem_name = "softmax";
  record.problem_file = "problems/softmax.py";
  record.options.search = "evolve";
  record.options.seed = 7;
  record.options.islands = 2;
  record.options.threads = 2;
  record.state = "done";
  record.ending = "the time is up";
  record.zone = "memory";
  record.workload_class = "normalise";
  record.elapsed_seconds = 603;
  record.created_at = "2026-01-02T03:04:05Z";
  return record;
}

// With a winner that was timed in full.
RunRecord confirmed(double eager, double compile = 0) {
  RunRecord record = run();
  record.winner = 5;
  record.confirmed = TimingRecord{};
  record.confirmed->comparisons.push_back({"eager", 2e-3, 1e-3, eager, {eager * 0.98, eager * 1.02}, 9, 90});
  if (compile > 0)
    record.confirmed->comparisons.push_back({"compile", 2e-3, 1e-3, compile, {compile * 0.98, compile * 1.02}, 9, 90});
  return record;
}

std::vector<Individual> population() {
  Individual third = individual(2, "crossover", 2, {"explicit_vectors", "parallel_outer"}, {0, 1});
  third.duplicate_of = 1;
  Individual best = individual(5, "mutation", 3, {"explicit_vectors", "stream_stores"}, {2}, {{"KW_UNROLL", "4"}});
  best.kernel.knobs = {{"KW_UNROLL", 2, {2, 4}}};
  best.strategies.push_back({"prefetch_ahead", Presence::struck, "no prefetch in the hot loop"});
  best.findings = {"bandwidth-bound: 75% of the ceiling"};
  Individual parent = third;
  parent.kernel.knobs = best.kernel.knobs;
  return {individual(0, "seed", 1.5, {"parallel_outer"}),
          individual(1, "seed", 1.2, {"explicit_vectors"}),
          parent,
          failed(3, Verdict::wrong, "out differs in its last column"),
          failed(4, Verdict::wrong, "out differs in its last column"),
          best,
          failed(6, Verdict::compile_failed, "kernel.cpp:3: expected ';'\nmore")};
}

TEST(RunText, DurationsAsPeopleSayThem) {
  EXPECT_EQ(human_duration(0.4), "0 s");
  EXPECT_EQ(human_duration(59.4), "59 s");
  EXPECT_EQ(human_duration(59.6), "1 min 00 s");
  EXPECT_EQ(human_duration(603), "10 min 03 s");
  EXPECT_EQ(human_duration(7500), "2 h 05 min");
}

TEST(RunText, RunsAreATable) {
  RunRecord other = run();
  other.id = "b1";
  other.problem_name = "matmul_bias";
  other.state = "running";
  other.elapsed_seconds = 12;
  EXPECT_EQ(runs_text({{confirmed(3.21), 142, 120}, {other, 3, 0}}, kNoPaint),
            "run   problem      search  state    tried   best         time  when\n"
            "3f2a  softmax      evolve  done       142  3.21x  10 min 03 s  2026-01-02 03:04\n"
            "b1    matmul_bias  evolve  running      3      -         12 s  2026-01-02 03:04\n");
  EXPECT_EQ(runs_text({}, kNoPaint), "no runs yet: kernelwright optimize PROBLEM starts one\n");
}

TEST(RunText, ALossIsNoWinnerAndIsSaidFirst) {
  const std::string loss = run_text(confirmed(0.39), population(), kNoPaint);
  EXPECT_TRUE(loss.starts_with("PyTorch is faster here: the kernel has 0.39x the speed of eager (0.38 to 0.40)\n")) << loss;
  EXPECT_EQ(loss.find("winner"), std::string::npos) << loss;
  EXPECT_NE(loss.find("best kernel 5 (mutation"), std::string::npos) << loss;
  const std::string by_compile = run_text(confirmed(1.5, 0.8), population(), kNoPaint);
  EXPECT_TRUE(
      by_compile.starts_with("PyTorch is faster here: the kernel has 1.50x the speed of eager (1.47 to 1.53) and 0.80x the "
                             "speed of torch.compile (0.78 to 0.82)\n"))
      << by_compile;
  const std::string neither = run_text(confirmed(1.0), population(), kNoPaint);
  EXPECT_TRUE(neither.starts_with("no clear difference from PyTorch here: ")) << neither;
  EXPECT_EQ(neither.find("winner"), std::string::npos) << neither;
  const std::string win = run_text(confirmed(2.0, 1.5), population(), kNoPaint);
  EXPECT_TRUE(win.starts_with("faster than PyTorch here: ")) << win;
  EXPECT_NE(win.find("winner      5"), std::string::npos) << win;
  EXPECT_NE(runs_text({{confirmed(0.39), 7, 4}}, kNoPaint).find("0.39x (slower)"), std::string::npos);
}

TEST(RunText, OneNumberForOneKernelIsTheConfirmedOne) {
  const std::string text = run_text(confirmed(2.2), population(), kNoPaint);  // the search saw 3.00
  EXPECT_EQ(text.find("3.00x"), std::string::npos) << text;
  EXPECT_NE(text.find("      5  mutation      2.20x  +stream_stores"), std::string::npos) << text;
  EXPECT_NE(text.find("      5  mutation      2.20x  after"), std::string::npos) << text;
  const std::string unconfirmed = run_text(run(), population(), kNoPaint);
  EXPECT_TRUE(unconfirmed.starts_with("not confirmed: ")) << unconfirmed;
  EXPECT_NE(unconfirmed.find("vs eager  not confirmed; a brief timing of the search: 3.00x"), std::string::npos) << unconfirmed;
  const std::string listed = runs_text({{confirmed(2.2), 7, 4}, {run(), 7, 4}}, kNoPaint);
  EXPECT_NE(listed.find("2.20x"), std::string::npos) << listed;
  EXPECT_NE(listed.find("not confirmed"), std::string::npos) << listed;
}

TEST(RunText, ARunIsShownWithItsWinnerLineageAndFailures) {
  RunRecord record = run();
  record.winner = 5;
  EXPECT_EQ(run_text(record, population(), kNoPaint),
            "not confirmed: no kernel was verified in full and timed against PyTorch\n"
            "run 3f2a  softmax (problems/softmax.py)\n"
            "search      evolve, seed 7, precision float32, 2 islands, 2 threads\n"
            "state       done (the time is up) after 10 min 03 s, 7 evaluations\n"
            "zone        memory, normalise\n"
            "\n"
            "best kernel 5 (mutation, generation 2, by playbook)\n"
            "  vs eager  not confirmed; a brief timing of the search: 3.00x (2.90 to 3.10), 333 us a call\n"
            "  knobs     KW_UNROLL=4\n"
            "  strategies present  explicit_vectors\n"
            "             present  stream_stores\n"
            "             struck   prefetch_ahead    no prefetch in the hot loop\n"
            "  profile   bandwidth-bound: 75% of the ceiling\n"
            "\n"
            "lineage  (brief timings of the search, not confirmed)\n"
            "      0  seed          1.50x  +parallel_outer\n"
            "      2  crossover     2.00x  +explicit_vectors  (with 1)\n"
            "      5  mutation      3.00x  +stream_stores -parallel_outer KW_UNROLL 2 -> 4\n"
            "\n"
            "tried  4 passed, 2 wrong, 1 compile_failed; 1 had the same code as an earlier one\n"
            "  crossover     1 tried,    1 passed\n"
            "  mutation      4 tried,    1 passed\n"
            "  seed          2 tried,    2 passed\n"
            "\n"
            "progress  (brief timings of the search, not confirmed)\n"
            "      0  seed          1.50x  after 20 s\n"
            "      2  crossover     2.00x  after 1 min 00 s\n"
            "      5  mutation      3.00x  after 1 min 40 s\n"
            "\n"
            "failures\n"
            "      3  wrong          out differs in its last column  (and 1 like it)\n"
            "      6  compile_failed kernel.cpp:3: expected ';'\n");
}

TEST(RunText, TheEndOfASearchIsSaidShortly) {
  RunRecord record = run();
  record.winner = 5;
  EXPECT_EQ(summary_text(record, population(), kNoPaint),
            "not confirmed: no kernel was verified in full and timed against PyTorch\n"
            "run 3f2a  softmax (problems/softmax.py)\n"
            "search      evolve, seed 7, precision float32, 2 islands, 2 threads\n"
            "state       done (the time is up) after 10 min 03 s, 7 evaluations\n"
            "zone        memory, normalise\n"
            "\n"
            "best kernel 5 (mutation, generation 2, by playbook)\n"
            "  vs eager  not confirmed; a brief timing of the search: 3.00x (2.90 to 3.10), 333 us a call\n"
            "  knobs     KW_UNROLL=4\n"
            "  by        explicit_vectors stream_stores\n"
            "  profile   bandwidth-bound: 75% of the ceiling\n"
            "  tried     4 passed, 2 wrong, 1 compile_failed; 1 had the same code as an earlier one\n");
  const std::string none = summary_text(run(), {failed(0, Verdict::crashed, "read past the end")}, kNoPaint);
  EXPECT_NE(none.find("no kernel has passed\n"), std::string::npos) << none;
  EXPECT_NE(none.find("crashed        read past the end\n"), std::string::npos) << "why is said where nothing passed:\n" << none;
}

TEST(RunText, TheConfirmedTimingIsTheWinners) {
  RunRecord record = run();
  record.winner = 5;
  record.confirmed = TimingRecord{};
  record.confirmed->comparisons.push_back({"eager", 2e-3, 1e-3, 2.95, {2.85, 3.05}, 9, 90});
  record.confirmed->comparisons.push_back({"compile", 1.5e-3, 1e-3, 1.5, {1.45, 1.55}, 9, 90});
  const std::string text = run_text(record, population(), kNoPaint);
  EXPECT_NE(text.find("vs eager      2.95x  (2.85 to 3.05, 95%)"), std::string::npos) << text;
  EXPECT_NE(text.find("vs compile    1.50x  (1.45 to 1.55, 95%)"), std::string::npos) << text;
}

TEST(RunText, ARunWithoutAWinnerShowsTheBestSoFar) {
  RunRecord record = run();
  record.state = "running";
  record.ending = "";
  EXPECT_NE(run_text(record, population(), kNoPaint).find("best so far 5 (mutation"), std::string::npos);
  const std::string none = run_text(record, {failed(0, Verdict::crashed, "read past the end")}, kNoPaint);
  EXPECT_NE(none.find("no kernel has passed\n"), std::string::npos) << none;
  EXPECT_NE(none.find("crashed        read past the end\n"), std::string::npos) << none;
  EXPECT_NE(none.find("1 evaluation\n"), std::string::npos) << none;
  EXPECT_NE(run_text(record, {}, kNoPaint).find("0 evaluations"), std::string::npos);
}

TEST(RunText, LineageOfDamagedRecordsEnds) {
  auto individuals = population();
  individuals[0].proposal.parents = {5};  // a later one
  individuals[1].proposal.parents = {99};
  const std::string text = run_text(run(), individuals, kNoPaint);
  EXPECT_NE(text.find("      0  seed"), std::string::npos) << text;
}

TEST(RunText, LongListsAreCutInTheMiddle) {
  std::vector<Individual> many;
  for (int i = 0; i < 60; ++i) {
    many.push_back(individual(i, "knobs", 1 + i * 0.1, {}));
    if (i > 0) many.back().proposal.parents = {i - 1};
  }
  const std::string text = run_text(run(), many, kNoPaint);
  EXPECT_NE(text.find("  ... 40 steps\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  ... 48 more\n"), std::string::npos) << text;
  EXPECT_NE(text.find("     59  knobs         6.90x  no change\n"), std::string::npos) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
}

TEST(RunText, TheLedgerIsATable) {
  EXPECT_EQ(ledger_text({{"explicit_vectors", "compute", "product", 2, 1.84, 1.7, 2.01, 12, 1},
                         {"prefetch_ahead", "memory", "", 1.1, 1, 1, 1, 0, 2}},
                        kNoPaint),
            "strategy          zone     class    predicted  measured  95%            n  failed\n"
            "explicit_vectors  compute  product      2.00x     1.84x  1.70 to 2.01  12       1\n"
            "prefetch_ahead    memory                1.10x         -  -              0       2\n");
  EXPECT_TRUE(ledger_text({}, kNoPaint).starts_with("the ledger is empty: a search (kernelwright optimize) fills it"));
}

LiveState live() {
  LiveState state;
  state.problem = "softmax";
  state.search = "evolve";
  state.phase = "generation 4";
  state.doing = "timing individual 88";
  state.best_speedup = 3.21;
  state.interval = {3.1, 3.35};
  state.best_index = 87;
  state.share_of_ceiling = 0.72;
  state.strategies = {"explicit_vectors", "parallel_outer"};
  state.evaluations = 142;
  state.failures = {{"compile_failed", 3}, {"wrong", 12}};
  state.elapsed_seconds = 600;
  state.seconds_left = 297;
  return state;
}

TEST(RunText, TheLiveTable) {
  EXPECT_EQ(live_table(live(), kNoPaint),
            "softmax  evolve  generation 4: timing individual 88\n"
            "best     3.21x eager (3.10 to 3.35), individual 87\n"
            "ceiling  [##############......] 72%\n"
            "by       explicit_vectors, parallel_outer\n"
            "tried    142, 14.2 a minute, 127 passed\n"
            "failed   3 compile_failed, 12 wrong\n"
            "time     10 min 00 s, 4 min 57 s left\n");
  EXPECT_EQ(live_line(live()),
            "generation 4: best 3.21x (3.10 to 3.35), 72% of the ceiling, 142 tried (14.2 a minute), 15 failed, 4 min 57 s left");
}

TEST(RunText, TheLiveTableBeforeAnythingHasPassed) {
  LiveState state;
  state.problem = "softmax";
  state.search = "refine";
  state.evaluations_left = 1;
  EXPECT_EQ(live_line(state), "refine: nothing has passed yet, 0 tried (0.0 a minute), 0 failed, 1 evaluation left");
  const std::string text = live_table(state, kNoPaint);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kLiveLines);
  EXPECT_NE(text.find("nothing has passed yet"), std::string::npos);
}

TEST(RunText, NoLiveLineIsWiderThanTheTerminal) {
  LiveState state = live();
  for (int i = 0; i < 30; ++i) state.strategies.push_back("another_strategy");
  for (const std::size_t width : {20, 40, 100}) {
    state.width = width;
    const std::string text = live_table(state, kNoPaint);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kLiveLines);
    for (std::size_t begin = 0; begin < text.size();) {
      const auto end = text.find('\n', begin);
      EXPECT_LE(end - begin, width);
      begin = end + 1;
    }
  }
}

TEST(RunText, ColourChangesNoColumn) {
  const auto stripped = [](std::string text) {
    for (auto begin = text.find('\x1b'); begin != std::string::npos; begin = text.find('\x1b'))
      text.erase(begin, text.find('m', begin) - begin + 1);
    return text;
  };
  const Paint colours{true};
  RunRecord record = run();
  record.winner = 5;
  EXPECT_NE(live_table(live(), colours).find("\x1b[32;1m3.21x\x1b[0m"), std::string::npos);
  EXPECT_EQ(stripped(live_table(live(), colours)), live_table(live(), kNoPaint));
  EXPECT_EQ(stripped(run_text(record, population(), colours)), run_text(record, population(), kNoPaint));
  const std::vector<RunListing> listed{{confirmed(3.21), 142, 9}, {confirmed(0.5), 7, 2}};
  EXPECT_EQ(stripped(runs_text(listed, colours)), runs_text(listed, kNoPaint));
}

}  // namespace
}  // namespace kw
