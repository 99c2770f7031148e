#include <gtest/gtest.h>

#include "search/generate.h"
#include "search/random_policy.h"
#include "search/refine.h"
#include "support/planted_landscape.h"

namespace kw {
namespace {

using testing::PlantedLandscape;

PlantedLandscape hill() {
  PlantedLandscape land;
  land.add("threads", 0.7, 1.8);
  land.add("vectors", 0.5, 1.6);
  land.add("maths", 0.4, 1.3).needs = {"vectors"};
  land.add("useless", 0, 1.5);
  land.add("harmful", -0.4, 1.4);
  land.add("tile", 0.2, 1.2).knobs = {{"KW_TILE", {16, 32, 64}}};
  land.knob_gains["KW_TILE"] = {{32, 0.2}, {64, 0.1}};
  return land;
}

const Individual& best_of(const PlantedLandscape& land) {
  return *std::max_element(land.individuals.begin(), land.individuals.end(),
                           [](const Individual& a, const Individual& b) { return a.speedup < b.speedup; });
}

TEST(RefineTest, PlainFirstThenStepsThenKnobs) {
  for (const int batch : {1, 3}) {
    PlantedLandscape land = hill();
    Refine refine(land.context(1, batch));
    land.drive(refine, 200);
    EXPECT_TRUE(land.individuals[0].proposal.strategies.empty());
    EXPECT_NEAR(land.truth(best_of(land).proposal), land.optimum(), 0.01);
    EXPECT_EQ(best_of(land).proposal.knobs, (KnobValues{{"KW_TILE", "32"}}));
    EXPECT_LT(land.individuals.size(), 40U) << "it ends by itself";
    EXPECT_EQ(refine.phase(), "done");
    bool knobs_seen = false;
    for (const Individual& individual : land.individuals) {
      knobs_seen |= individual.proposal.origin == "knobs";
      if (individual.proposal.origin == "structure") {
        EXPECT_FALSE(knobs_seen);
      }
    }
  }
}

TEST(RefineTest, EveryStepChangesOneThingOfTheKernelThatIsKept) {
  PlantedLandscape land = hill();
  land.failing = {{"threads", "vectors"}};
  Refine refine(land.context(1));
  land.drive(refine, 200);
  double kept = -10;
  std::int64_t current = -1;
  for (const Individual& individual : land.individuals) {
    if (individual.proposal.origin == "structure") {
      ASSERT_EQ(individual.proposal.parents, std::vector<std::int64_t>{current}) << "after a step back it goes on from the best";
      const auto& parent = land.individuals[static_cast<std::size_t>(current)].proposal.strategies;
      std::vector<std::string> added;
      std::set_difference(individual.proposal.strategies.begin(), individual.proposal.strategies.end(), parent.begin(),
                          parent.end(), std::back_inserter(added));
      EXPECT_LE(added.size(), 2U);  // a strategy and what it needs
    }
    if (individual.passed() && std::log(individual.speedup) > kept + 0.02) {
      kept = std::log(individual.speedup);
      current = individual.index;
    }
  }
  EXPECT_GT(land.truth(best_of(land).proposal), land.plain + 1.0);
}

TEST(RefineTest, AFailedPlainKernelIsNotTheEnd) {
  PlantedLandscape land = hill();
  land.failing = {{}};
  Refine refine(land.context(1));
  const auto plain = refine.ask();
  ASSERT_EQ(plain.size(), 1U);
  refine.tell({land.evaluate(plain[0], 1)});
  EXPECT_FALSE(land.individuals[0].passed());
  land.failing.clear();
  land.drive(refine, 100);
  EXPECT_GT(best_of(land).speedup, 1);
}

TEST(RefineTest, TheProfileIsAskedOnlyWhenStructureHasStoppedPaying) {
  PlantedLandscape land = hill();
  // Its promise is so bad that no step of structure tries it; the finding names its lever.
  land.add("packed", 0.5, 0.1).lever = "pack";
  land.findings_by_lever["pack"] = {"latency-bound: strided loads; pack or layout could help"};
  Refine refine(land.context(1));
  land.drive(refine, 200);
  std::vector<std::string> origins;
  for (const Individual& individual : land.individuals) origins.push_back(individual.proposal.origin);
  const auto profile = std::find(origins.begin(), origins.end(), "profile");
  ASSERT_NE(profile, origins.end());
  EXPECT_EQ(std::find(profile, origins.end(), "structure"), origins.end());
  const auto& best = best_of(land).proposal.strategies;
  EXPECT_TRUE(std::find(best.begin(), best.end(), "packed") != best.end());
}

TEST(GenerateTest, EndsWithTheFirstKernelThatPasses) {
  PlantedLandscape land = hill();
  Generate generate(land.context(1, 4));
  land.drive(generate, 50);
  ASSERT_EQ(land.individuals.size(), 1U);
  EXPECT_GE(land.individuals[0].proposal.strategies.size(), 5U);
}

TEST(GenerateTest, BecomesSimplerUntilOnePasses) {
  PlantedLandscape land = hill();
  land.failing = {{"threads"}, {"vectors"}};
  Generate generate(land.context(1));
  land.drive(generate, 50);
  for (std::size_t i = 1; i < land.individuals.size(); ++i)
    EXPECT_LT(land.individuals[i].proposal.strategies.size(), land.individuals[i - 1].proposal.strategies.size());
  EXPECT_TRUE(land.individuals.back().passed());
  EXPECT_LE(land.individuals.size(), 5U);
}

TEST(GenerateTest, GivesUpAfterThePlainKernel) {
  PlantedLandscape land = hill();
  land.failing = {{}};
  Generate generate(land.context(1));
  land.drive(generate, 50);
  EXPECT_TRUE(land.individuals.back().proposal.strategies.empty());
  EXPECT_LE(land.individuals.size(), 6U);
}

TEST(RandomPolicyTest, CoversAllKernelsAndEnds) {
  PlantedLandscape land;
  land.add("a", 0.1).conflicts = {"b"};
  land.add("b", 0.1);
  land.add("c", 0.1).needs = {"a"};
  land.add("d", 0.1).knobs = {{"KW_D", {1, 2, 3, 4}}, {"KW_E", {1, 2}}};
  land.constraints = {"KW_D * KW_E <= 4"};
  RandomPolicy policy(land.context(1, 4));
  land.drive(policy, 1000);
  // {}, a, b, a+c, each alone or with d, which has 6 points.
  EXPECT_EQ(land.individuals.size(), 4U * (1 + 6));
  for (const Individual& individual : land.individuals) {
    const auto knob = [&](const char* name) {
      const auto found = individual.proposal.knobs.find(name);
      return found == individual.proposal.knobs.end() ? 1 : std::stoi(found->second);
    };
    EXPECT_LE(knob("KW_D") * knob("KW_E"), 4);
  }
}

TEST(PolicyTest, NoPolicyProposesForbiddenKnobs) {
  for (const std::string& name : policy_names()) {
    PlantedLandscape land = hill();
    land.add("block", 0.3, 1.3).knobs = {{"KW_M", {4, 8, 12, 16}}, {"KW_N", {1, 2, 3, 4}}};
    land.constraints = {"KW_M * KW_N <= 24 && KW_M != 12"};
    land.knob_gains["KW_M"] = {{8, 0.1}, {12, 0.5}, {16, 0.2}};
    land.knob_gains["KW_N"] = {{2, 0.1}, {3, 0.2}, {4, 0.3}};
    auto policy = make_policy(name, land.context(1, 2));
    ASSERT_TRUE(policy.ok());
    land.drive(**policy, 80);
    for (const Individual& individual : land.individuals) {
      const auto knob = [&](const char* id, int standard) {
        const auto found = individual.proposal.knobs.find(id);
        return found == individual.proposal.knobs.end() ? standard : std::stoi(found->second);
      };
      EXPECT_LE(knob("KW_M", 4) * knob("KW_N", 1), 24) << name;
      EXPECT_NE(knob("KW_M", 4), 12) << name;
    }
  }
}

TEST(PolicyTest, UnknownNamesAndImpossibleNumbersAreRefused) {
  PlantedLandscape land = hill();
  const auto unknown = make_policy("anneal", land.context(1));
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("anneal"), std::string::npos);
  EXPECT_NE(unknown.error().hint.find("evolve, refine, generate, random"), std::string::npos);
  EXPECT_FALSE(make_policy("evolve", land.context(1, 0)).ok());
  EXPECT_FALSE(make_policy("evolve", land.context(1, 1, 0)).ok());
  EXPECT_FALSE(make_policy("evolve", {}).ok());
}

TEST(PolicyTest, ACoderThatDeclinesIsNotAskedForever) {
  for (const std::string& name : policy_names()) {
    PlantedLandscape land = hill();
    SearchContext context = land.context(1);
    context.write = [](const std::vector<std::string>&) -> Result<Kernel> { return bad_input("no"); };
    auto policy = make_policy(name, context);
    ASSERT_TRUE(policy.ok());
    EXPECT_TRUE((*policy)->ask().empty()) << name;
  }
}

}  // namespace
}  // namespace kw
