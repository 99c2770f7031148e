#include "archive/runs.h"

#include <gtest/gtest.h>

#include "correctness/archive/samples.h"

namespace kw {
namespace {

using testing::open_with_samples;
using testing::sample_machine;
using testing::sample_problem;

class RunArchiveTest : public ::testing::Test {
 protected:
  RunArchiveTest() : folder_(std::move(TempFolder::make("kw-runs-test")).value()) {}

  Archive open() { return std::move(open_with_samples(folder_.path() / "archive.db")).value(); }

  static RunRecord sample_run() {
    RunRecord run;
    run.problem_hash = sample_problem().source_hash;
    run.torch_version = sample_problem().torch_version;
    run.machine_id = sample_machine().id;
    run.problem_name = "softmax";
    run.options.seed = 7;
    run.zone = "memory";
    return run;
  }

  static Individual sample_individual(std::int64_t index, double speedup) {
    Individual individual;
    individual.index = index;
    individual.verdict = speedup > 0 ? Verdict::passed : Verdict::wrong;
    individual.speedup = speedup;
    individual.proposal.strategies = {"fuse_chain", "parallel_outer"};
    individual.proposal.knobs = {{"KW_UNROLL", "4"}};
    individual.kernel.source = "// \xff is no UTF-8";
    individual.strategies = {{"fuse_chain", Presence::present, "seen"}, {"parallel_outer", Presence::struck, "missed"}};
    return individual;
  }

  TempFolder folder_;
};

TEST_F(RunArchiveTest, KeepsExchangesByRunInTheirOrder) {
  const Archive archive = open();
  RunArchive runs = archive.runs();
  const auto first = runs.start(sample_run()), second = runs.start(sample_run());
  ASSERT_TRUE(first.ok() && second.ok());
  Exchange exchange;
  exchange.purpose = "translator";
  exchange.model = "local";
  exchange.messages = {{"system", "write code"}, {"user", "softmax \xff"}};
  exchange.answer = "```cpp\n```";
  exchange.finish = "stop";
  exchange.input_tokens = 120;
  exchange.usd = 0.25;
  exchange.attempts = 2;
  const auto id = runs.add_exchange(first->id, exchange);
  ASSERT_TRUE(id.ok()) << id.error().message;
  exchange.purpose = "debugger";
  const auto other = runs.add_exchange(first->id, exchange);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(*other, *id);
  const auto kept = runs.exchanges(first->id);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  ASSERT_EQ(kept->size(), 2U);
  EXPECT_EQ(kept->front().id, *id);
  EXPECT_EQ(kept->front().purpose, "translator");
  EXPECT_EQ(kept->back().purpose, "debugger");
  EXPECT_EQ(kept->front().messages.front(), exchange.messages.front());
  EXPECT_EQ(kept->front().answer, exchange.answer);
  EXPECT_EQ(kept->front().input_tokens, 120);
  EXPECT_EQ(kept->front().usd, 0.25);
  EXPECT_TRUE(runs.exchanges(second->id)->empty());
  EXPECT_FALSE(runs.add_exchange("99", exchange).ok()) << "a run that is not there has no exchanges";
}

TEST_F(RunArchiveTest, KeepsARunWithItsIndividualsInOrder) {
  {
    const Archive archive = open();
    RunArchive runs = archive.runs();
    const auto run = runs.start(sample_run());
    ASSERT_TRUE(run.ok()) << run.error().message;
    const Individual batch[] = {sample_individual(0, 1.5), sample_individual(1, 0)};
    ASSERT_TRUE(runs.add(run->id, batch, 2.5).ok());
    const Individual later[] = {sample_individual(2, 3.25)};
    ASSERT_TRUE(runs.add(run->id, later, 4.125).ok());
  }
  const Archive archive = open();
  const auto list = archive.runs().list();
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_EQ(list->size(), 1U);
  EXPECT_EQ(list->front().individuals, 3);
  EXPECT_EQ(list->front().passed, 2);
  EXPECT_DOUBLE_EQ(list->front().best_speedup, 3.25);
  EXPECT_DOUBLE_EQ(list->front().run.elapsed_seconds, 4.125);
  EXPECT_EQ(list->front().run.options.seed, 7U);
  const auto individuals = archive.runs().individuals(list->front().run.id);
  ASSERT_TRUE(individuals.ok()) << individuals.error().message;
  ASSERT_EQ(individuals->size(), 3U);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ((*individuals)[static_cast<std::size_t>(i)].index, i);
  EXPECT_EQ(individuals->front().proposal.knobs.at("KW_UNROLL"), "4");
  EXPECT_EQ(individuals->front().real_strategies(), std::vector<std::string>{"fuse_chain"});
}

TEST_F(RunArchiveTest, SearchesOnSubProblemsAreListedWhenAskedFor) {
  const Archive archive = open();
  RunArchive runs = archive.runs();
  const auto whole = runs.start(sample_run());
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  RunRecord part = sample_run();
  part.options.part_of = whole->id;
  const auto started = runs.start(part);
  ASSERT_TRUE(started.ok()) << started.error().message;
  const auto alone = runs.list();
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  ASSERT_EQ(alone->size(), 1U);
  EXPECT_EQ(alone->front().run.id, whole->id);
  const auto all = runs.list(50, SubProblems::with);
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->front().run.id, started->id);
  EXPECT_EQ(all->front().run.options.part_of, whole->id);
}

TEST_F(RunArchiveTest, StoresNoIndividualTwiceAndNoBatchHalfway) {
  const Archive archive = open();
  RunArchive runs = archive.runs();
  const auto run = runs.start(sample_run());
  const Individual first[] = {sample_individual(0, 1)};
  ASSERT_TRUE(runs.add(run->id, first, 1).ok());
  const Individual overlapping[] = {sample_individual(1, 2), sample_individual(0, 9)};
  EXPECT_FALSE(runs.add(run->id, overlapping, 2).ok());
  const auto kept = runs.individuals(run->id);
  ASSERT_EQ(kept->size(), 1U);
  EXPECT_DOUBLE_EQ(kept->front().speedup, 1);
}

TEST_F(RunArchiveTest, EndingARunTwiceTeachesOnce) {
  const Archive archive = open();
  RunArchive runs = archive.runs();
  RunRecord run = *runs.start(sample_run());
  LedgerEntry entry;
  entry.strategy = "fuse_chain";
  entry.measured = 1.25;
  Lesson lesson;
  lesson.strategies = {"fuse_chain"};
  run.state = "done";
  for (int times = 0; times < 2; ++times) ASSERT_TRUE(runs.finish(run, {&entry, 1}, {&lesson, 1}).ok());
  const auto ledger = runs.ledger();
  ASSERT_EQ(ledger->items.size(), 1U);
  EXPECT_DOUBLE_EQ(ledger->items.front().measured, 1.25);
  EXPECT_EQ(runs.lessons()->items.size(), 1U);
  EXPECT_EQ((*runs.find(run.id))->state, "done");
  // What a run began with can be asked for again, whatever came later.
  ASSERT_TRUE(runs.finish(*runs.start(sample_run()), {&entry, 1}, {}).ok());
  EXPECT_EQ(runs.ledger()->items.size(), 2U);
  EXPECT_EQ(runs.ledger(ledger->limit)->items.size(), 1U);
  EXPECT_EQ(runs.ledger(0)->items.size(), 0U);
}

TEST_F(RunArchiveTest, OneProcessWorksOnARun) {
  auto lock = RunLock::acquire(folder_.path(), "3");
  ASSERT_TRUE(lock.ok());
  const auto second = RunLock::acquire(folder_.path(), "3");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::bad_input);
  EXPECT_TRUE(RunLock::acquire(folder_.path(), "4").ok());
  { const RunLock moved = std::move(*lock); }
  EXPECT_TRUE(RunLock::acquire(folder_.path(), "3").ok());
}

TEST_F(RunArchiveTest, SaysWhatIsNoRun) {
  const Archive archive = open();
  for (const char* id : {"", "abc", "-1", "1x", "99999999999999999999999"}) EXPECT_FALSE(archive.runs().find(id).ok()) << id;
  const auto missing = archive.runs().find("12");
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->has_value());
}

TEST_F(RunArchiveTest, ADeletedRunTakesWithItWhatOnlyItHas) {
  const Archive archive = open();
  RunArchive runs = archive.runs();
  auto first = runs.start(sample_run()), second = runs.start(sample_run());
  ASSERT_TRUE(first.ok() && second.ok());
  const Individual individual = sample_individual(0, 2);
  LedgerEntry entry;
  entry.strategy = "fuse_chain";
  for (RunRecord* run : {&*first, &*second}) {
    ASSERT_TRUE(runs.add(run->id, std::span(&individual, 1), 1).ok());
    ASSERT_TRUE(runs.add_exchange(run->id, Exchange{}).ok());
    entry.run = run->id;
    run->state = "done";
    ASSERT_TRUE(runs.finish(*run, std::span(&entry, 1), {}).ok());
  }
  const std::vector<std::string> ids{first->id};
  ASSERT_TRUE(runs.remove(ids).ok());
  EXPECT_FALSE(runs.find(first->id)->has_value());
  EXPECT_TRUE(runs.individuals(first->id)->empty() && runs.exchanges(first->id)->empty());
  ASSERT_EQ(runs.ledger()->items.size(), 1U);
  EXPECT_EQ(runs.ledger()->items[0].run, second->id);
  EXPECT_EQ(runs.individuals(second->id)->size(), 1U);
  // All or none.
  const std::vector<std::string> one_is_gone{second->id, first->id};
  EXPECT_FALSE(runs.remove(one_is_gone).ok());
  EXPECT_TRUE(runs.find(second->id)->has_value());
  EXPECT_EQ(runs.start(sample_run())->id, "3") << "numbers are not given again";
}

TEST_F(RunArchiveTest, UnfinishedRunsRestOnWhatEarlierOnesTaught) {
  const Archive archive = open();
  RunArchive runs = archive.runs();
  auto teacher = runs.start(sample_run());
  ASSERT_TRUE(teacher.ok());
  RunRecord before = sample_run();  // began when the ledger was empty
  const auto unaware = runs.start(before);
  LedgerEntry entry;
  entry.strategy = "fuse_chain";
  entry.run = teacher->id;
  teacher->state = "done";
  ASSERT_TRUE(runs.finish(*teacher, std::span(&entry, 1), {}).ok());
  RunRecord after = sample_run();
  after.ledger_limit = runs.ledger()->limit;
  auto pupil = runs.start(after);
  ASSERT_TRUE(unaware.ok() && pupil.ok());
  const std::vector<std::string> ids{teacher->id}, both{teacher->id, pupil->id};
  EXPECT_EQ(*runs.unfinished_after(ids), std::vector<std::string>{pupil->id});
  EXPECT_TRUE(runs.unfinished_after(both)->empty());
  pupil->state = "done";
  ASSERT_TRUE(runs.finish(*pupil, {}, {}).ok());
  EXPECT_TRUE(runs.unfinished_after(ids)->empty());
}

}  // namespace
}  // namespace kw
