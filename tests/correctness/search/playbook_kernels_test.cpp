// The playbook's kernels through the real evaluator: the plain kernel and the one with every strategy, for each small problem; and
// the same texts for other instruction sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/subprocess.h"
#include "dsl/problem_header.h"
#include "search/coder.h"
#include "search/trials.h"
#include "support/planted_machine.h"
#include "support/temp_home.h"

namespace kw {
namespace {

// An inverse and a scatter: operations that the playbook does not know. And a product that takes the plain kernel minutes: it is
// for the virtual GPU.
const std::set<std::string> kLeftOut{"matrix_inverse", "top_two_gates", "matmul_wide"};

std::vector<std::string> small_problems() {
  std::vector<std::string> names;
  for (const auto& entry : entries_of(testing::test_file("problems")))
    if (entry.path().extension() == ".py" && !kLeftOut.contains(entry.path().stem().string())) names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class PlaybookKernels : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome;
    testing::plant_machine();
    auto opened = Evaluator::open({});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    evaluator_ = opened->release();
    auto pool = StrategyPool::load_own();
    ASSERT_TRUE(pool.ok()) << pool.error().message;
    pool_ = new StrategyPool(std::move(*pool));
  }
  static void TearDownTestSuite() {
    delete pool_;
    delete evaluator_;
    delete home_;
  }

  static ProblemSource problem(const std::string& name) {
    auto source = evaluator_->problem(testing::test_file("problems/" + name + ".py"));
    EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
    return std::move(source).value();
  }
  static std::unique_ptr<Coder> coder(const ProblemSource& source) {
    auto made = playbook_coder(source.description, evaluator_->machine(), evaluator_->threads());
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? std::move(*made) : nullptr;
  }

  static inline testing::TempHome* home_ = nullptr;
  static inline Evaluator* evaluator_ = nullptr;
  static inline StrategyPool* pool_ = nullptr;
};

TEST_P(PlaybookKernels, PassPlainAndWithEveryStrategy) {
  const ProblemSource source = problem(GetParam());
  const auto playbook = coder(source);
  ASSERT_NE(playbook, nullptr);
  for (const auto& strategies : {std::vector<std::string>{}, pool_->ids()}) {
    const auto kernel = playbook->write(strategies);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    EXPECT_TRUE(strategies.empty() ? kernel->claims.empty() : true) << "the plain kernel claims " << kernel->claims.front();
    for (const std::string& claim : kernel->claims) {
      const Strategy* strategy = pool_->find(claim);
      ASSERT_NE(strategy, nullptr) << claim;
      // A search leaves out strategies that need what the coder never claims.
      for (const std::string& need : strategy->needs)
        EXPECT_TRUE(std::binary_search(kernel->claims.begin(), kernel->claims.end(), need)) << claim << " needs " << need;
    }
    for (const Knob& knob : kernel->knobs) {
      EXPECT_NE(kernel->source.find("#ifndef " + knob.name), std::string::npos) << knob.name;
      EXPECT_NE(std::find(knob.values.begin(), knob.values.end(), knob.standard), knob.values.end()) << knob.name;
    }
    auto candidate = Trials::candidate_of(*kernel, {});
    ASSERT_TRUE(candidate.ok()) << candidate.error().message;
    const auto judged = evaluator_->verify(source, *candidate, "verify");
    ASSERT_TRUE(judged.ok()) << judged.error().message;
    const VerdictRecord& verdict = judged->evaluation.verdict;
    EXPECT_EQ(verdict.verdict, Verdict::passed)
        << name_of(verdict.verdict) << ": " << verdict.diagnosis.summary << " " << verdict.diagnosis.place << "\n"
        << fmt::format("{}\n", fmt::join(verdict.diagnosis.evidence, "\n"))
        << (verdict.checks.empty() ? Json() : Json(verdict.checks.back())).dump() << "\n"
        << kernel->source;
  }
}

INSTANTIATE_TEST_SUITE_P(OfTheTests, PlaybookKernels, ::testing::ValuesIn(small_problems()),
                         [](const auto& each) { return each.param; });

using PlaybookPortability = PlaybookKernels;

TEST_P(PlaybookPortability, BuildsForOtherInstructionSets) {
  const ProblemSource source = problem(GetParam());
  const auto playbook = coder(source);
  ASSERT_NE(playbook, nullptr);
  const auto kernel = playbook->write(pool_->ids());
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const TempFolder folder = std::move(TempFolder::make("kw-portable")).value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "problem.h", problem_header(source.description)).ok());
  ASSERT_TRUE(write_file_atomically(folder.path() / "kernel.cpp", kernel->source).ok());
  std::vector<std::vector<std::string>> compilers{
      {"g++", "-march=x86-64-v3"}, {"g++", "-march=x86-64"}, {"g++", "-march=x86-64-v4"}};
  if (const std::string arm = find_program("aarch64-linux-gnu-g++"); !arm.empty()) compilers.push_back({arm});
  for (std::vector<std::string> command : compilers) {
    for (const char* word : {"-std=c++20", "-O1", "-fopenmp", "-Wall", "-Werror", "-Wno-unused-function", "-Wno-unknown-pragmas",
                             "-include", "problem.h", "-c", "kernel.cpp", "-o", "kernel.o"})
      command.emplace_back(word);
    if (kernel->source.find("kw_prepare") != std::string::npos) command.emplace_back("-DKW_HAS_PREPARE");
    command[0] = find_program(command[0]);
    Command compile;
    compile.argv = command;
    compile.folder = folder.path().string();
    const auto ran = run_command(compile);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_TRUE(ran->succeeded()) << command[0] << " " << command[1] << "\n" << ran->err;
  }
}

INSTANTIATE_TEST_SUITE_P(SomeKernels, PlaybookPortability,
                         ::testing::Values("row_softmax", "linear_relu", "max_pool2d", "cumsum", "argmax", "gelu", "conv2d_kinds",
                                           "conv_transpose_kinds"),
                         [](const auto& each) { return each.param; });

TEST_F(PlaybookKernels, SaysWhichOperationItDoesNotKnow) {
  const ProblemSource source = problem("matrix_inverse");
  const auto made = playbook_coder(source.description, evaluator_->machine(), evaluator_->threads());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::bad_input);
  EXPECT_NE(made.error().message.find("matrix_inverse"), std::string::npos) << made.error().message;
  EXPECT_NE(made.error().message.find("aten.linalg_inv"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace kw
