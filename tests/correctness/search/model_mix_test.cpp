// A model beside a policy: whose turn it is, what it is asked for, how its failures go on, and that nothing changes without one.
#include <gtest/gtest.h>

#include "search/lineage.h"
#include "search/model_author.h"
#include "search/model_mix.h"
#include "support/planted_landscape.h"
#include "support/scripted_model.h"
#include "support/small_problems.h"
#include "support/tests_folder.h"

namespace kw {
namespace {

using testing::PlantedLandscape;
using testing::ScriptedModel;

PlantedLandscape slope() {
  PlantedLandscape land;
  land.add("threads", 0.7, 1.8);
  land.add("vectors", 0.5, 1.6);
  land.add("maths", 0.4, 1.3).needs = {"vectors"};
  land.add("useless", 0, 1.5);
  return land;
}

MixOptions options_for(PlantedLandscape& land, const SearchContext& context) {
  MixOptions options;
  options.model = "m";
  options.promising = context.usable;
  options.conflict = [](const std::string&, const std::string&) { return false; };
  options.needs = [pool = context.pool](const std::string& id) { return pool->find(id)->needs; };
  (void)land;
  return options;
}

// So many strategies that no policy runs out of them in a test.
PlantedLandscape plain_of_many() {
  PlantedLandscape land = slope();
  for (int i = 0; i < 10; ++i) land.add("little" + std::to_string(i), 0.01 * (i - 5), 1.1);
  return land;
}

// The outcome of a model's proposal, as fast as the test says.
Individual by_model(PlantedLandscape& land, const Proposal& proposal, double speedup, bool passes) {
  Individual made = land.evaluate(proposal, 1);
  made.kernel.author = proposal.author;
  made.kernel.source = "by a model " + std::to_string(made.index);
  made.assembly_hash = made.kernel.source;
  made.duplicate_of = -1;
  made.speedup = speedup;
  made.interval = {made.speedup * 0.99, made.speedup * 1.01};
  if (!passes) {
    made.verdict = Verdict::compile_failed;
    made.diagnosis = "failed " + std::to_string(made.index);
    made.speedup = 0;
  }
  land.individuals.back() = made;
  return made;
}

struct Turn {
  bool model;
  std::vector<Proposal> proposals;
};

// Drives a mix; `outcome` decides what becomes of a model's proposal.
std::vector<Turn> drive(PlantedLandscape& land, Policy& mix, int evaluations,
                        const std::function<Individual(PlantedLandscape&, const Proposal&)>& outcome) {
  std::vector<Turn> turns;
  while (static_cast<int>(land.individuals.size()) < evaluations) {
    const auto proposals = mix.ask();
    if (proposals.empty()) break;
    std::vector<Individual> outcomes;
    for (const Proposal& proposal : proposals)
      outcomes.push_back(proposal.author.empty() ? land.evaluate(proposal, 1) : outcome(land, proposal));
    turns.push_back({!proposals.front().author.empty(), proposals});
    mix.tell(outcomes);
  }
  return turns;
}

int turns_of_model(const std::vector<Turn>& turns) {
  return static_cast<int>(std::count_if(turns.begin(), turns.end(), [](const Turn& turn) { return turn.model; }));
}

TEST(ModelMixTest, WithoutAnAnswerThePolicyDecidesAsBefore) {
  for (const char* name : {"evolve", "refine"}) {
    PlantedLandscape alone = slope(), mixed = slope();
    auto policy = make_policy(name, alone.context(3, 2));
    alone.drive(**policy, 30);
    const SearchContext context = mixed.context(3, 2);
    ModelMix mix(make_policy(name, context).value(), options_for(mixed, context));
    std::vector<std::string> own;
    // What the model does not answer must not change anything that the policy decides.
    PlantedLandscape shadow = slope();
    shadow.context(3, 2);
    while (own.size() < alone.individuals.size()) {
      const auto proposals = mix.ask();
      if (proposals.empty()) break;
      std::vector<Individual> outcomes;
      for (const Proposal& proposal : proposals) {
        Individual made;
        if (proposal.author.empty()) {
          made = shadow.evaluate(proposal, 1);
          own.push_back(Json(proposal).dump());
        } else {
          made.proposal = proposal;
          made.verdict = Verdict::compile_failed;
          made.faults = {"no_answer"};
        }
        outcomes.push_back(made);
      }
      // Indices are the run's, of which the model's silent individuals are a part; the policy must see its own as in a run alone.
      mix.tell(outcomes);
    }
    ASSERT_EQ(own.size(), alone.individuals.size()) << name;
    for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(own[i], Json(alone.individuals[i].proposal).dump()) << name << " " << i;
  }
}

TEST(ModelMixTest, RecordsOfARunWithoutAModelReadAsTheyAlwaysDid) {
  const Json proposal = Proposal{}, individual = Individual{}, options = RunOptions{};
  for (const char* key : {"author", "task"}) EXPECT_FALSE(proposal.contains(key)) << key;
  for (const char* key : {"details", "faults", "remarks", "invented"}) EXPECT_FALSE(individual.contains(key)) << key;
  for (const char* key : {"model", "base_url"}) EXPECT_FALSE(options.contains(key)) << key;
  Individual made;
  made.proposal.author = "m";
  made.proposal.task = "repair";
  made.faults = {"no_code"};
  made.details.summary = "s";
  const auto back = Json(made).get<Individual>();
  EXPECT_EQ(back.proposal.author, "m");
  EXPECT_EQ(back.faults, made.faults);
  EXPECT_EQ(back.details.summary, "s");
}

TEST(ModelMixTest, TheShareFollowsWhatTheModelEarns) {
  const auto share = [](double growth, bool passes) {
    PlantedLandscape land = plain_of_many();
    const SearchContext context = land.context(1);
    ModelMix mix(make_policy("evolve", context).value(), options_for(land, context));
    int number = 0;
    const auto turns = drive(land, mix, 45, [&](PlantedLandscape& here, const Proposal& proposal) {
      return by_model(here, proposal, 2 * std::pow(growth, ++number), passes);
    });
    EXPECT_FALSE(turns.front().model) << "the policy's seeds come first";
    return static_cast<double>(turns_of_model(turns)) / static_cast<double>(turns.size());
  };
  const double good = share(1.3, true), useless = share(1, false);
  EXPECT_GT(good, 0.6);
  EXPECT_LT(useless, 0.5);
  EXPECT_GT(useless, 0.05) << "it is tried now and then";
}

TEST(ModelMixTest, FailuresGoThroughTheConductor) {
  PlantedLandscape land = slope();
  const SearchContext context = land.context(1);
  MixOptions options = options_for(land, context);
  options.model_first = true;
  ModelMix mix(make_policy("refine", context).value(), options);
  std::vector<Proposal> models;
  drive(land, mix, 200, [&](PlantedLandscape& here, const Proposal& proposal) {
    models.push_back(proposal);
    return by_model(here, proposal, 1, models.size() == 3);
  });
  ASSERT_GE(models.size(), 4U);
  EXPECT_EQ(models[0].task, "translate");
  EXPECT_TRUE(models[0].strategies.empty()) << "the simplest kernel first";
  EXPECT_EQ(models[1].task, "repair");
  EXPECT_EQ(models[2].task, "repair");
  EXPECT_EQ(models[2].parents, models[1].parents) << "a repair that came no further is taken back";
  EXPECT_EQ(models[3].task, "translate") << "it passed: something new";
  EXPECT_EQ(models[3].parents.size(), 1U);
  EXPECT_FALSE(models[3].strategies.empty());
}

TEST(ModelMixTest, IdeasAreOfEveryKindAndEndWithPatience) {
  PlantedLandscape land = slope();
  const SearchContext context = land.context(1);
  ModelMix mix(make_policy("refine", context).value(), options_for(land, context));
  std::set<std::string> tasks;
  drive(land, mix, 500, [&](PlantedLandscape& here, const Proposal& proposal) {
    tasks.insert(proposal.task);
    return by_model(here, proposal, 0.2, true);
  });
  EXPECT_TRUE(tasks.contains("translate") && tasks.contains("invent") && tasks.contains("cross"));
  EXPECT_LT(land.individuals.size(), 200U) << "a model that gains nothing is not asked for ever";
  EXPECT_TRUE(mix.model_is_off());
}

TEST(ModelMixTest, AModelsKernelThatLeadsHasItsKnobsTuned) {
  PlantedLandscape land = slope();
  const SearchContext context = land.context(1);
  ModelMix mix(make_policy("refine", context).value(), options_for(land, context));
  int tuned = 0;
  drive(land, mix, 60, [&](PlantedLandscape& here, const Proposal& proposal) {
    Individual made = by_model(here, proposal, 40, true);
    made.kernel.knobs = {{"KW_TILE", 16, {16, 32, 64}}};
    if (proposal.task == "knobs") {
      ++tuned;
      EXPECT_EQ(proposal.origin, "knobs");
      EXPECT_EQ(proposal.parents.size(), 1U);
    }
    here.individuals.back() = made;
    return made;
  });
  EXPECT_GE(tuned, 2);
}

TEST(ModelMixTest, TellingAgainGivesTheSameDecisions) {
  PlantedLandscape land = slope();
  const SearchContext context = land.context(5, 2);
  const auto fresh = [&] { return std::make_unique<ModelMix>(make_policy("evolve", context).value(), options_for(land, context)); };
  const auto first = fresh();
  std::vector<std::vector<Individual>> batches;
  std::vector<std::string> asked;
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<Individual> outcomes;
    for (const Proposal& proposal : first->ask()) {
      asked.push_back(Json(proposal).dump());
      outcomes.push_back(proposal.author.empty() ? land.evaluate(proposal, 1)
                                                 : by_model(land, proposal, 1.1, land.individuals.size() % 3 != 0));
    }
    first->tell(outcomes);
    batches.push_back(outcomes);
  }
  const auto second = fresh();
  std::vector<std::string> again;
  for (const auto& batch : batches) {
    for (const Proposal& proposal : second->ask()) again.push_back(Json(proposal).dump());
    second->tell(batch);
  }
  EXPECT_EQ(again, asked) << "a run is resumed without asking the model for what was done";
}

TEST(LineageTest, AttemptsBelongToTheirRootAndStructureStalls) {
  std::vector<Individual> all(6);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = static_cast<std::int64_t>(i);
  all[1].proposal.task = "translate";
  const auto child = [&](std::size_t index, std::int64_t parent, const char* task) {
    all[index].proposal.parents = {parent};
    all[index].proposal.task = task;
  };
  child(2, 1, "repair");
  child(4, 2, "regenerate");
  child(5, 4, "translate");
  EXPECT_EQ(lineage_root(all, 4), 1);
  EXPECT_EQ(lineage_root(all, 5), 5) << "a child, no further attempt";
  EXPECT_EQ(lineage_of(all, 1).size(), 3U);

  std::vector<Individual> run;
  const auto add = [&](double speedup, const std::string& origin) {
    Individual made;
    made.index = static_cast<std::int64_t>(run.size());
    made.verdict = Verdict::passed;
    made.speedup = speedup;
    made.interval = {speedup * 0.99, speedup * 1.01};
    made.proposal.origin = origin;
    run.push_back(made);
  };
  add(1, "seed");
  add(1.5, "structure");
  for (int i = 0; i < kStructureStalls - 1; ++i) add(1.501, "structure");
  for (int i = 0; i < 10; ++i) add(1.2, "knobs");
  EXPECT_FALSE(structure_stalled_at(run)) << "knobs are no structure";
  add(1.505, "mutation");
  EXPECT_EQ(structure_stalled_at(run), static_cast<std::int64_t>(run.size())) << "a gain within noise is none";
  add(3, "structure");
  EXPECT_TRUE(structure_stalled_at(run)) << "from then on";
}

class ModelAuthorTest : public ::testing::Test {
 protected:
  ModelAuthorTest() {
    auto read = Library::load(kw::testing::tests_folder().parent_path());
    library = std::move(*read);
    pool = few();
    AuthorContext context;
    context.model = &model;
    context.library = &library;
    context.brief.problem = testing::vector_problem(16);
    context.brief.declaration = "extern \"C\" void kw_kernel(const float* x, float* out)";
    context.brief.zone = "memory";
    context.brief.workload_class = "pointwise";
    context.pool = &pool;
    context.ledger = &ledger;
    context.individuals = &individuals;
    context.fitting = {"explicit_vectors"};
    author = std::make_unique<ModelAuthor>(std::move(context));
  }
  static Proposal task(const std::string& name, std::vector<std::int64_t> parents = {}, std::vector<std::string> strategies = {}) {
    Proposal proposal;
    proposal.origin = "model";
    proposal.author = "scripted";
    proposal.task = name;
    proposal.parents = std::move(parents);
    proposal.strategies = std::move(strategies);
    return proposal;
  }
  static StrategyPool few() {
    Strategy vectors;
    vectors.id = "explicit_vectors";
    vectors.name = vectors.why = vectors.applies = "write inner loops with vector types";
    vectors.lever = "vectorise";
    vectors.zones = {"memory"};
    vectors.predicts = 2;
    return StrategyPool::from({vectors}).value();
  }
  Written write(const Proposal& proposal) { return author->write({proposal}).front(); }

  const std::string kernel =
      "```cpp\n#include \"problem.h\"\nextern \"C\" void kw_kernel(const float* x, float* out) {\n  out[0] = x[0];\n}\n```";
  ScriptedModel model;
  Library library;
  StrategyPool pool;
  Ledger ledger;
  std::vector<Individual> individuals;
  std::unique_ptr<ModelAuthor> author;
};

TEST_F(ModelAuthorTest, IdeasExtendThePoolOfTheRun) {
  const std::string idea =
      R"({"strategies": [{"name": "Skew the loop bounds", "lever": "reorder_loops", "why": "Aligned starts.", "predicts": 1.1}], "use": ["explicit_vectors"]})";
  model.answer("strategist", idea);
  model.answer("translator", kernel);
  const Written written = write(task("invent"));
  EXPECT_EQ(written.failure, "");
  EXPECT_EQ(written.kernel.claims, (std::vector<std::string>{"explicit_vectors", "model_skew_the_loop_bounds"}));
  EXPECT_EQ(written.proposal.strategies, written.kernel.claims);
  ASSERT_EQ(written.invented.size(), 1U);
  EXPECT_NE(pool.find("model_skew_the_loop_bounds"), nullptr);
  EXPECT_EQ(author->take_exchanges().size(), 2U);
  EXPECT_TRUE(author->take_exchanges().empty());
  // A run that is resumed has the same pool again.
  StrategyPool own = few();
  std::vector<std::string> remarks;
  extend_pool(own, written.invented, remarks);
  EXPECT_EQ(own.ids(), pool.ids());
  extend_pool(own, written.invented, remarks);
  EXPECT_EQ(remarks.size(), 1U) << "the same id twice is refused";
}

TEST_F(ModelAuthorTest, AStrategistWhoMakesNoSenseCostsNoKernel) {
  model.answer("strategist", "hm");
  model.answer("strategist", "hm");
  model.answer("translator", kernel);
  const Written written = write(task("invent"));
  EXPECT_EQ(written.failure, "");
  EXPECT_EQ(written.kernel.claims, std::vector<std::string>{"explicit_vectors"}) << "a known strategy instead";
  EXPECT_EQ(written.faults, (std::vector<std::string>{"no_json", "no_json"}));
}

TEST_F(ModelAuthorTest, NoAnswerIsAnOutcome) {
  for (const char* name : {"translate", "invent", "repair", "regenerate", "decide"}) {
    const Written written = write(task(name));
    EXPECT_TRUE(written.kernel.source.empty()) << name;
    EXPECT_NE(written.failure, "") << name;
  }
  EXPECT_TRUE(author->broken());
}

TEST_F(ModelAuthorTest, RepairsKnobsAndDecisions) {
  Individual broken;
  broken.proposal = task("translate");
  broken.kernel.source = "extern \"C\" void kw_kernel(const float* x, float* out) {\n  out[0] = x[1];\n}\n";
  broken.kernel.claims = {"explicit_vectors"};
  broken.verdict = Verdict::wrong;
  broken.details.summary = broken.diagnosis = "the first element is wrong";
  individuals.push_back(broken);
  model.answer("debugger/diagnose", R"({"cause": "the index", "fix": "0"})");
  model.answer("debugger/patch", "<<<<<<< FIND\nx[1]\n=======\nx[0]\n>>>>>>> REPLACE\n");
  const Written repaired = write(task("repair", {0}));
  EXPECT_NE(repaired.kernel.source.find("x[0]"), std::string::npos);
  EXPECT_EQ(repaired.kernel.claims, broken.kernel.claims);
  EXPECT_NE(model.text_of(0).find("the first element is wrong"), std::string::npos);
  const auto requests = model.requests.size();
  EXPECT_EQ(write(task("knobs", {0})).kernel.source, broken.kernel.source);
  EXPECT_EQ(model.requests.size(), requests) << "knobs need no model";
  model.answer("conductor", R"({"decision": "drop", "why": "hopeless"})");
  const Written dropped = write(task("decide", {0}));
  EXPECT_EQ(dropped.proposal.task, "drop");
  EXPECT_NE(dropped.failure.find("hopeless"), std::string::npos);
}

TEST_F(ModelAuthorTest, FindingsAreWithheldUntilStructureHasStalled) {
  Individual parent;
  parent.kernel.source = "int parent;\n";
  parent.verdict = Verdict::passed;
  parent.speedup = 2;
  parent.interval = {1.99, 2.01};
  parent.proposal.origin = "seed";
  parent.findings = {"bandwidth-bound: 92% of the ceiling"};
  individuals.push_back(parent);
  model.answer("translator", kernel);
  EXPECT_TRUE(write(task("translate", {0})).remarks.empty());
  EXPECT_EQ(model.text_of(0).find("bandwidth-bound"), std::string::npos);
  for (int i = 0; i < kStructureStalls; ++i) {
    individuals.push_back(parent);
    individuals.back().index = i + 1;
  }
  model.answer("translator", kernel);
  const Written written = write(task("translate", {0}));
  EXPECT_NE(model.text_of(1).find("bandwidth-bound"), std::string::npos);
  ASSERT_EQ(written.remarks.size(), 1U) << "the switch is visible";
  EXPECT_TRUE(written.remarks[0].starts_with("profile findings are shown"));
  model.answer("strategist", R"({"use": ["explicit_vectors"]})");
  model.answer("translator", kernel);
  EXPECT_EQ(write(task("invent", {0})).remarks.size(), 1U) << "once, although two roles are shown them";
}

}  // namespace
}  // namespace kw
