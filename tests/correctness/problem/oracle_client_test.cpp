#include "problem/oracle_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <future>

#include "base/work_limit.h"
#include "problem/problem_source.h"
#include "problem/tensor_sets.h"
#include "support/temp_home.h"

namespace kw {
namespace {

// Prints at every turn: the protocol's own channel must not carry it.
constexpr const char* kProblem = R"(
import sys
import torch
print("hello from the file")

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x):
        print('{"id": 1, "ok": true, "result": {}}')
        return torch.relu(self.linear(x))

def get_inputs():
    print("and from the inputs", file=sys.stderr)
    return [torch.randn(5, 8)]

def get_init_inputs():
    return []
)";

// One oracle and one empty cache for all.
class OracleTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome(testing::CacheIs::own);
    oracle_ = new OracleClient({1, {}, {}});
    problem_ = home_->write("prints_a_lot.py", kProblem);
  }
  static void TearDownTestSuite() {
    delete oracle_;
    delete home_;
  }
  static ProblemSource source() {
    auto loaded = load_problem(problem_, *oracle_);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    return loaded.ok() ? *loaded : ProblemSource{};
  }
  static TensorSet set(std::uint64_t draw, const SetKind& kind, OracleClient& oracle) {
    auto got = TensorStore(source(), "float32").get(draw, kind, oracle);
    EXPECT_TRUE(got.ok()) << (got.ok() ? "" : got.error().message);
    return std::move(got).value();
  }
  static std::string bytes(const TensorSet& set, const std::string& file) {
    return *read_file(set.folder / (file + ".safetensors"));
  }

  static inline testing::TempHome* home_ = nullptr;
  static inline OracleClient* oracle_ = nullptr;
  static inline fs::path problem_;
};

TEST_F(OracleTest, DescribesAProblemThatPrints) {
  const auto hello = oracle_->hello();
  ASSERT_TRUE(hello.ok()) << hello.error().message;
  EXPECT_EQ(hello->at("protocol"), 1);
  EXPECT_EQ(hello->at("pid"), oracle_->pid());
  const auto problem = source().description;
  EXPECT_EQ(problem.name, "prints_a_lot");
  EXPECT_EQ(problem.file, problem_.string());
  ASSERT_EQ(problem.inputs.size(), 1u);
  EXPECT_EQ(problem.inputs[0].shape, (std::vector<std::int64_t>{5, 8}));
  ASSERT_EQ(problem.parameters.size(), 2u);
  EXPECT_EQ(problem.parameters[0].name, "linear.weight");
  EXPECT_EQ(problem.outputs.at(0).shape, (std::vector<std::int64_t>{5, 4}));
}

// Its inputs take an hour.
TEST_F(OracleTest, AQuestionEndsWithTheWorkAndTheNextIsAnswered) {
  std::string slow(kProblem);
  slow.replace(slow.find("    return [torch.randn(5, 8)]"), 30, "    import time; time.sleep(3600)");
  const fs::path file = home_->write("sleeps.py", slow);
  OracleClient oracle({1, {}, {}});
  ASSERT_TRUE(oracle.hello().ok());
  {
    const WorkLimit limit(WorkLimit::Clock::now() + std::chrono::milliseconds(300));
    const auto ended = load_problem(file, oracle);
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().kind, ErrorKind::stopped);
  }
  EXPECT_TRUE(oracle.ask("hello", Json::object()).ok());
  EXPECT_EQ(oracle.generation(), 2) << "the process that was busy was ended";
}

TEST_F(OracleTest, ADescriptionIsAskedForOnce) {
  const ProblemSource first = source();
  OracleClient cold({1, {}, {}});
  const auto second = load_problem(problem_, cold);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(cold.generation(), 0) << "no oracle is started for what is known";
  EXPECT_EQ(Json(second->description), Json(first.description));
  EXPECT_EQ(second->cache_folder, first.cache_folder);

  // The same text elsewhere is the same problem at another place; another text is another problem.
  const fs::path copy = home_->write("elsewhere/prints_a_lot.py", kProblem);
  const auto moved = load_problem(copy, cold);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->description.file, copy.string());
  EXPECT_EQ(cold.generation(), 0);
  const auto changed = load_problem(home_->write("changed/prints_a_lot.py", std::string(kProblem) + "# changed\n"), *oracle_);
  ASSERT_TRUE(changed.ok());
  EXPECT_NE(changed->cache_folder, first.cache_folder);

  // A damaged file is replaced.
  ASSERT_TRUE(write_file_atomically(first.cache_folder / "description.json", "{\"name\": 3").ok());
  EXPECT_EQ(Json(source().description), Json(first.description));
  EXPECT_TRUE(parse_json(*read_file(first.cache_folder / "description.json"), "description").ok());
}

TEST_F(OracleTest, IsStartedAgainAfterItsDeath) {
  const auto before = oracle_->ask("describe", {{"problem", problem_.string()}});
  ASSERT_TRUE(before.ok()) << before.error().message;
  const int generation = oracle_->generation(), pid = oracle_->pid();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  const auto after = oracle_->ask("describe", {{"problem", problem_.string()}});
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(oracle_->generation(), generation + 1);
  EXPECT_NE(oracle_->pid(), pid);
  EXPECT_EQ(after->at("inputs"), before->at("inputs"));
}

TEST_F(OracleTest, ADrawIsTheSameWhoeverMakesIt) {
  const SetKind given{"given", false, 0}, fresh{"mixed", true, 0};
  const TensorSet first = set(11, given, *oracle_);
  EXPECT_EQ(first.reference.at("out")->dtype, DType::f64);
  EXPECT_EQ(first.eager.at("out")->dtype, DType::f32);
  EXPECT_EQ(first.inputs.at("x")->numel(), 40);
  const std::string inputs = bytes(first, "inputs"), weights = bytes(first, "weights"), reference = bytes(first, "reference");

  OracleClient cold({1, {}, {}});
  EXPECT_EQ(bytes(set(11, given, cold), "inputs"), inputs);
  EXPECT_EQ(cold.generation(), 0) << "what is cached needs no oracle";

  fs::remove_all(first.folder);
  const TensorSet again = set(11, given, *oracle_);
  EXPECT_EQ(bytes(again, "inputs"), inputs);
  EXPECT_EQ(bytes(again, "weights"), weights);
  EXPECT_EQ(bytes(again, "reference"), reference);
  EXPECT_EQ(again.seed, first.seed);

  EXPECT_NE(bytes(set(12, given, *oracle_), "inputs"), inputs) << "another draw";
  const TensorSet other = set(11, {"given", false, 1}, *oracle_);
  EXPECT_NE(bytes(other, "inputs"), inputs) << "another variant of a draw";
  EXPECT_EQ(bytes(other, "weights"), weights) << "which shares its weights";
  EXPECT_NE(bytes(set(11, fresh, *oracle_), "weights"), weights);
  const std::uint64_t picked = TensorStore(source(), "float32").pick_draw(false);
  EXPECT_TRUE(picked == 11 || picked == 12) << picked;
}

TEST_F(OracleTest, TwoProcessesMayMakeTheSameSetAtOnce) {
  OracleClient other({1, {}, {}});
  const ProblemSource loaded = source();
  ASSERT_TRUE(other.ask("describe", {{"problem", problem_.string()}}).ok());  // both are started
  for (std::uint64_t draw = 31; draw < 41; ++draw) {
    const SetKind given{"given", false, 0};
    const auto get = [&](OracleClient& oracle) { return TensorStore(loaded, "float32").get(draw, given, oracle); };
    auto beside = std::async(std::launch::async, [&] { return get(other); });
    const auto mine = get(*oracle_);
    const auto theirs = beside.get();
    ASSERT_TRUE(mine.ok()) << mine.error().message;
    ASSERT_TRUE(theirs.ok()) << theirs.error().message;
    EXPECT_EQ(mine->folder, theirs->folder);
    EXPECT_TRUE(fs::exists(mine->folder / "set.json"));
    const auto entries = fs::directory_iterator(mine->folder.parent_path());
    EXPECT_EQ(std::distance(fs::begin(entries), fs::end(entries)), 1) << "nothing half made stays";
  }
}

TEST_F(OracleTest, DamagedTensorsAreMadeAgain) {
  const SetKind given{"given", false, 0};
  const TensorSet whole = set(21, given, *oracle_);
  const std::string inputs = bytes(whole, "inputs");
  for (const char* file : {"inputs.safetensors", "weights.safetensors", "reference.safetensors", "eager.safetensors", "set.json"}) {
    for (const std::string& damage : {std::string(), read_file(whole.folder / file)->substr(0, 40), std::string(500, '\xff')}) {
      ASSERT_TRUE(write_file_atomically(whole.folder / file, damage).ok());
      EXPECT_EQ(bytes(set(21, given, *oracle_), "inputs"), inputs) << file << " with " << damage.size() << " bytes";
    }
    fs::remove(whole.folder / file);
    EXPECT_EQ(bytes(set(21, given, *oracle_), "inputs"), inputs) << file << " missing";
  }
}

TEST(TensorStoreTest, EvictionLivesWithOthersThatMakeAndRemoveSets) {
  const testing::TempHome home(testing::CacheIs::own);
  const fs::path kept = home.cache() / "tensors" / "kept-1" / "1-float32";
  ASSERT_TRUE(make_folders(kept).ok());
  ASSERT_TRUE(write_file_atomically(kept / "inputs.safetensors", std::string(1000, 'x')).ok());
  std::atomic<bool> stop = false;
  auto other = std::async(std::launch::async, [&] {
    for (int n = 0; !stop; ++n) {
      const fs::path folder = home.cache() / "tensors" / "b-2" / std::to_string(n % 3);
      for (int set = 0; set < 8; ++set) EXPECT_TRUE(make_folders(folder / std::to_string(set) / "in").ok());
      EXPECT_TRUE(write_file_atomically(folder / "0" / "in" / "inputs.safetensors", "x").ok());
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  });
  for (int look = 0; look < 400; ++look) EXPECT_NO_THROW(shrink_cache(1e6));
  stop = true;
  other.get();
  EXPECT_TRUE(fs::exists(kept));
}

TEST(TensorStoreTest, EvictionRemovesWhatWasUsedLongestAgo) {
  const testing::TempHome home(testing::CacheIs::own);
  const auto draw = [&](const std::string& name, int age) {
    const fs::path folder = home.cache() / "tensors" / name;
    EXPECT_TRUE(make_folders(folder / "given-given-0").ok());
    EXPECT_TRUE(write_file_atomically(folder / "given-given-0" / "inputs.safetensors", std::string(1000, 'x')).ok());
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(age));
    return folder;
  };
  const fs::path oldest = draw("a-1/1-float32", 9), middle = draw("b-2/7-float32", 5), newest = draw("a-1/3-float32", 1);
  const fs::path description = home.cache() / "tensors" / "a-1" / "description.json";
  ASSERT_TRUE(write_file_atomically(description, "{}").ok());
  shrink_cache(3000);
  EXPECT_TRUE(fs::exists(oldest)) << "all of it fits";
  shrink_cache(2500);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_TRUE(fs::exists(middle) && fs::exists(newest));
  shrink_cache(10);
  EXPECT_FALSE(fs::exists(middle));
  EXPECT_TRUE(fs::exists(newest)) << "the newest may be in use";
  EXPECT_TRUE(fs::exists(description)) << "descriptions stay";
}

TEST(TensorStoreTest, AnEmptyCacheIsNoHarm) {
  const testing::TempHome home(testing::CacheIs::own);
  shrink_cache(1);
  const TensorStore store({{}, home.cache() / "tensors" / "none"}, "float32");
  EXPECT_GT(store.pick_draw(false), 0u);
  EXPECT_NE(store.pick_draw(true), store.pick_draw(true));
}

TEST(TensorStoreTest, OnlyDrawsOfThePrecisionAreReused) {
  const testing::TempHome home(testing::CacheIs::own);
  const fs::path folder = home.cache() / "tensors" / "p";
  for (const char* name : {"1234567890123-float32", "77-bf16", "junk-bf16", "9x-bf16", "-bf16"})
    ASSERT_TRUE(make_folders(folder / name).ok());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(TensorStore({{}, folder}, "bf16").pick_draw(false), 77u);
    EXPECT_EQ(TensorStore({{}, folder}, "float32").pick_draw(false), 1234567890123u);
  }
}

TEST(TensorStoreTest, TheLimitIsTheUsers) {
  const testing::TempHome home(testing::CacheIs::own);
  const testing::ScopedVariable some("KERNELWRIGHT_CACHE_GB", "2.5");
  EXPECT_EQ(cache_limit(), 2.5e9);
  for (const char* nonsense : {"", "0", "-3", "much"}) {
    const testing::ScopedVariable value("KERNELWRIGHT_CACHE_GB", nonsense);
    EXPECT_EQ(cache_limit(), 4e9) << nonsense;
  }
}

TEST(VerificationKinds, BeginWithTheProblemsOwnInputs) {
  EXPECT_EQ(verification_kinds().front().distribution, "given");
  EXPECT_FALSE(verification_kinds().front().fresh_weights);
  EXPECT_GE(verification_kinds().size(), 8u);
}

}  // namespace
}  // namespace kw
