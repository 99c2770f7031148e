#include "strategy/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "correctness/strategy/few_strategies.h"
#include "strategy/condition.h"

namespace kw {
namespace {

// The complaint about a pool with one damaged strategy; it always names it.
std::string complaint(const std::function<void(Strategy&)>& damage) {
  auto strategies = testing::few_strategies();
  damage(strategies[2]);
  const auto pool = StrategyPool::from(strategies);
  EXPECT_FALSE(pool.ok());
  if (pool.ok()) return "";
  EXPECT_FALSE(pool.error().hint.empty()) << pool.error().message;
  EXPECT_EQ(pool.error().kind, ErrorKind::bad_input);
  EXPECT_NE(pool.error().message.find("'" + strategies[2].id + "'"), std::string::npos) << pool.error().message;
  return pool.error().message;
}

bool says(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

TEST(StrategyPoolError, UnknownWordsAreNamed) {
  ASSERT_TRUE(StrategyPool::from(testing::few_strategies()).ok()) << "undamaged";
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.lever = "magic"; }), "magic"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.zones = {"memory", "twilight"}; }), "twilight"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.zones = {}; }), "zone"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.classes = {"Matmul"}; }), "Matmul"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.id = "Stream Stores"; }), "snake_case"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.id = ""; }), "snake_case"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.why = ""; }), "why"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.knobs = {{"TILE", {1}}}; }), "TILE"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.knobs = {{"KW_TILE", {}}}; }), "KW_TILE"));
}

TEST(StrategyPoolError, StrategiesThatAreNotThereAreNamed) {
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.conflicts = {"nothing"}; }), "nothing"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.needs = {"nobody"}; }), "nobody"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.needs = {s.id}; }), "no other"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.needs = {"tile"}; }), "conflicts"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.id = "threads"; }), "twice"));
}

TEST(StrategyPoolError, PredictionsConditionsAndPatternsMustMakeSense) {
  for (const double prediction : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_TRUE(says(complaint([&](Strategy& s) { s.predicts = prediction; }), "predicts"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.when = {"threads >"}; }), "threads >"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.when = {"row_elemnts > 2"}; }), "row_elemnts"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.when = {"1 > 2"}; }), "1 > 2"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.evidence = {{"source", "(", false, ""}}; }), "("));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.evidence = {{"source", "", false, ""}}; }), "empty"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.evidence = {{"source", "a*", false, ""}}; }), "a*"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.evidence = {{"object", "a", false, ""}}; }), "object"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.evidence = {{"source", "a", false, "mips"}}; }), "mips"));
  EXPECT_TRUE(says(complaint([](Strategy& s) { s.telling = true; }), "telling"));
}

TEST(StrategyPoolError, FilesAreNamed) {
  const auto missing = StrategyPool::load("no/such/folder");
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(says(missing.error().message, "no/such/folder"));
  EXPECT_TRUE(says(missing.error().hint, "KERNELWRIGHT_ROOT"));
  const auto complaint_about = [](const std::string& text) {
    const auto folder = TempFolder::make();
    EXPECT_TRUE(write_file_atomically(folder->path() / "fuse.json", text).ok());
    const auto pool = StrategyPool::load(folder->path());
    EXPECT_FALSE(pool.ok()) << text;
    if (pool.ok()) return std::string();
    EXPECT_TRUE(says(pool.error().message, "fuse.json")) << pool.error().message;
    return pool.error().message;
  };
  EXPECT_TRUE(says(complaint_about("[{"), "JSON"));
  EXPECT_TRUE(says(complaint_about("{}"), "array"));
  EXPECT_TRUE(says(complaint_about("[3]"), "without an id"));
  EXPECT_TRUE(says(complaint_about(R"([{"id": "fuse_all", "name": "x"}])"), "fuse_all"));
  Json twice = Json::array();
  for (int i = 0; i < 2; ++i) twice.push_back(testing::strategy("again", {"memory"}, 2));
  EXPECT_TRUE(says(complaint_about(twice.dump()), "again"));
  Json bad = Json::array({testing::strategy("bad_one", {"nowhere"}, 2)});
  EXPECT_TRUE(says(complaint_about(bad.dump()), "bad_one"));
}

}  // namespace
}  // namespace kw
