#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "correctness/archive/samples.h"

namespace kw {
namespace {

TEST(EvaluationKey, EveryFieldMakesAnotherKey) {
  const EvaluationKey base = testing::sample_evaluation().key;
  const std::vector<std::function<void(EvaluationKey&)>> changes{
      [](auto& k) { k.kernel_hash += "0"; },
      [](auto& k) { k.knobs["KW_TILE"] = "64"; },
      [](auto& k) { k.knobs["KW_MORE"] = "1"; },
      [](auto& k) { k.knobs.clear(); },
      [](auto& k) { k.dsl = "cuda"; },
      [](auto& k) { k.problem_hash += "0"; },
      [](auto& k) { k.machine_id += "0"; },
      [](auto& k) { k.compiler += ".1"; },
      [](auto& k) { k.flags += " -ffast-math"; },
      [](auto& k) { k.torch_version += ".1"; },
      [](auto& k) { k.evaluator_version += ".1"; },
      [](auto& k) { k.precision = "bf16"; },
      [](auto& k) { k.sandbox = "none"; },
      [](auto& k) { k.threads = 1; },
      [](auto& k) { k.conditions["seconds of a call"] = "0.05"; },
      [](auto& k) { k.conditions["seconds of a call"] = "0.5"; },
  };
  std::set<std::string> keys{base.key()};
  for (const auto& change : changes) {
    EvaluationKey other = base;
    change(other);
    keys.insert(other.key());
  }
  EXPECT_EQ(keys.size(), changes.size() + 1);
}

TEST(EvaluationKey, IsASha256AndTheSameForEqualFields) {
  const EvaluationKey key = testing::sample_evaluation().key;
  EXPECT_EQ(key.key().size(), 64U);
  EXPECT_EQ(key.key(), EvaluationKey(key).key());
}

TEST(EvaluationKey, TextMovedFromOneFieldToTheNextIsAnotherKey) {
  EvaluationKey one = testing::sample_evaluation().key;
  EvaluationKey other = one;
  one.compiler = "g++ 12";
  one.flags = "-O2";
  other.compiler = "g++ 12-O2";
  other.flags = "";
  EXPECT_NE(one.key(), other.key());
  one = other;
  one.knobs = {{"A", "12"}};
  other.knobs = {{"A1", "2"}};
  EXPECT_NE(one.key(), other.key());
}

TEST(EvaluationJson, GivesBackWhatItWasMadeFrom) {
  Evaluation evaluation = testing::sample_evaluation();
  evaluation.id = 7;
  evaluation.created_at = "2000-01-01T00:00:00.000Z";
  const Json without_timing = evaluation;
  EXPECT_TRUE(without_timing.at("timing").is_null());
  EXPECT_EQ(Json(without_timing.get<Evaluation>()), without_timing);
  evaluation.timing = testing::sample_timing();
  const Json with_timing = evaluation;
  EXPECT_EQ(Json(with_timing.get<Evaluation>()), with_timing);
  EXPECT_EQ(with_timing.get<Evaluation>().key.key(), evaluation.key.key());
}

}  // namespace
}  // namespace kw
