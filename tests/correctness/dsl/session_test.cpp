#include "dsl/session.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/cores.h"
#include "base/work_limit.h"
#include "support/compiled_kernel.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using std::chrono::milliseconds;
using testing::fill;
using testing::tensor;
using testing::values_of;

constexpr milliseconds kLong{20000};
constexpr int kZero[] = {0};
constexpr std::size_t kX = 0, kScale = 1, kW = 2, kOut = 3;

// x[0] says what to do.
constexpr const char* kKernel = R"(
#include <cstdio>
#include "problem.h"
static int calls = 0;
extern "C" void kw_kernel(const float* x, std::int64_t scale, const float* w, float* out) {
  ++calls;
  for (int i = 0; i < 19; ++i) out[i] = x[i % 4] * w[i % 4] * float(scale);
  switch (int(x[0])) {
    case 1: out[0] = float(calls); break;
    case 2: out[19] = 1; break;
    case 3: out[-1] = 1; break;
    case 4: std::puts("a line"); std::fflush(stdout); break;
    case 6: for (;;) asm volatile("");
    case 5: __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000); break;
    default: break;
  }
}
)";

class SessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    problem_ = new ProblemDescription(
        testing::problem_of({tensor("x", TensorKind::input, {4}), testing::scalar("scale", DType::i64, 3)},
                            {tensor("w", TensorKind::parameter, {4})}, {tensor("out", TensorKind::output, {19})}));
    built_ = new testing::BuiltKernel(testing::build(*problem_, kKernel));
    ASSERT_TRUE(built_->outcome.kernel.has_value()) << built_->outcome.diagnosis.summary;
  }
  static void TearDownTestSuite() {
    delete built_;
    delete problem_;
  }

  // A session with its weights and scalars; x is {command, 2, 3, 4}.
  static Session session(float command, SessionOptions options = {}) {
    options.mode = testing::sandbox_mode();
    const int slots = options.slots;
    Session made = std::move(Session::create(*problem_, *built_->outcome.kernel, options)).value();
    for (int slot = 0; slot < slots; ++slot) {
      fill<float>(made, kX, slot, {command, 2, 3, 4});
      fill<std::int64_t>(made, kScale, slot, {10 + slot});
    }
    fill<float>(made, kW, 0, {1, 1, 0.5, 2});
    return made;
  }
  static void launch(Session& session) {
    const auto launched = session.launch(kLong);
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    ASSERT_TRUE(launched->ok()) << launched->failure.diagnosis.summary;
  }
  static CallReport call(Session& session, std::span<const int> slots = kZero, std::span<const int> outs = kZero) {
    const auto called = session.call(slots, outs, true, kLong);
    EXPECT_TRUE(called.ok() && called->ok()) << (called.ok() ? called->failure.diagnosis.summary : called.error().message);
    return called.ok() && called->ok() ? *called->value : CallReport{};
  }
  static std::vector<float> out(Session& session, int slot = 0, bool* broken = nullptr) {
    bool canary_broken = false;
    const auto bytes = session.output(kOut, slot, canary_broken);
    EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
    if (broken != nullptr)
      *broken = canary_broken;
    else
      EXPECT_FALSE(canary_broken);
    return values_of<float>(*bytes);
  }

  static inline ProblemDescription* problem_ = nullptr;
  static inline testing::BuiltKernel* built_ = nullptr;
};

TEST_F(SessionTest, GivesTheKernelItsArgumentsAndTakesTheOutputs) {
  for (const Placement placement : {Placement::tail, Placement::head}) {
    SessionOptions options;
    options.placement = placement;
    Session one = session(0, options);
    launch(one);
    const CallReport report = call(one);
    ASSERT_EQ(report.seconds.size(), 1u);
    EXPECT_FALSE(report.float_state_changed);
    const auto values = out(one);
    ASSERT_EQ(values.size(), 19u);
    EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 4), (std::vector<float>{0, 20, 15, 80}));
    EXPECT_EQ(values[18], 15);
  }
}

TEST_F(SessionTest, SlotsAndOutSlotsAreApart) {
  SessionOptions options;
  options.slots = 3;
  options.out_slots = 2;
  Session one = session(0, options);
  launch(one);
  const int slots[] = {2, 0, 1}, outs[] = {0, 1, 0};
  EXPECT_EQ(call(one, slots, outs).seconds.size(), 3u);
  EXPECT_EQ(out(one, 0)[1], 22) << "slot 1 was the last to write there";
  EXPECT_EQ(out(one, 1)[1], 20);
}

TEST_F(SessionTest, SharedContentsMayChangeBetweenCalls) {
  Session one = session(0);
  launch(one);
  call(one);
  fill<float>(one, kX, 0, {0, 7, 7, 7});
  fill<float>(one, kW, 0, {0, 1, 1, 1});
  call(one);
  EXPECT_EQ(out(one)[3], 70);
}

TEST_F(SessionTest, CopiedWeightsStayAsTheyWereAtLaunch) {
  SessionOptions options;
  options.shared_weights = false;
  Session one = session(0, options);
  launch(one);
  fill<float>(one, kW, 0, {7, 7, 7, 7});
  call(one);
  EXPECT_EQ(out(one)[3], 80);
}

TEST_F(SessionTest, OrdersAreRehearsedAndTimedOutside) {
  SessionOptions options;
  options.slots = 3;
  options.rehearsals = 4;
  Session one = session(0, options);
  launch(one);
  EXPECT_GT(one.order_seconds(), 0);
  const int slots[] = {2, 0, 0, 1}, outs[] = {0, 0, 0, 0};
  const CallReport report = call(one, slots, outs);
  ASSERT_EQ(report.seconds.size(), 4u);
  ASSERT_EQ(report.outside.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(report.outside[i], report.seconds[i] * (i == 0 || i == 3 ? 1 : 0.4));
  EXPECT_EQ(out(one)[1], 22);
}

// Counts what begins like an input of another set, in all memory around its own that can be read.
TEST(SessionInputs, OfLaterCallsAreNowhereInTheProcess) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "asks the system by x86's instruction";
#endif
  const auto problem = testing::problem_of({tensor("x", TensorKind::input, {1024})}, {}, {tensor("out", TensorKind::output, {1})});
  const auto built = testing::build(problem, R"(
#include <cstring>
#include "problem.h"
static bool readable(std::uintptr_t page) {
  long result = 0;
  register long size asm("r10") = 8;
  asm volatile("syscall" : "=a"(result) : "a"(14), "D"(99), "S"(page), "d"(0), "r"(size) : "rcx", "r11", "memory");
  return result == -22;
}
extern "C" void kw_kernel(const float* x, float* out) {
  const auto around = reinterpret_cast<std::uintptr_t>(x);
  int found = 0;
  for (std::uintptr_t page = around - (256 << 20); page < around + (256 << 20); page += 4096)
    if (page != around && readable(page) && std::memcmp(reinterpret_cast<const float*>(page) + 1, x + 1, 4092) == 0) ++found;
  out[0] = float(found) + x[0];
}
)");
  ASSERT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
  SessionOptions options;
  options.mode = testing::sandbox_mode();
  options.slots = options.out_slots = 5;
  Session one = std::move(Session::create(problem, *built.outcome.kernel, options)).value();
  std::vector<float> values(1024, 3.5f);
  for (int slot = 0; slot < 5; ++slot) {
    values[0] = static_cast<float>(100 * slot);
    fill<float>(one, 0, slot, values);
  }
  ASSERT_TRUE(one.launch(kLong)->ok());
  const int order[] = {3, 1, 4, 0, 2};
  const auto called = one.call(order, order, true, kLong);
  ASSERT_TRUE(called.ok() && called->ok()) << (called.ok() ? called->failure.diagnosis.summary : called.error().message);
  bool broken = false;
  for (const int slot : order) EXPECT_EQ(values_of<float>(*one.output(1, slot, broken))[0], static_cast<float>(100 * slot)) << slot;
}

TEST_F(SessionTest, AnotherLaunchIsAnotherProcessWithTheSameContents) {
  Session one = session(1);
  launch(one);
  call(one);
  call(one);
  EXPECT_EQ(out(one)[0], 2);
  one.finish();
  launch(one);
  call(one);
  EXPECT_EQ(out(one)[0], 1) << "nothing of the first process is left";
  EXPECT_EQ(out(one)[1], 20);
}

TEST_F(SessionTest, MemoryAroundAnOutputIsWatched) {
  for (const float command : {2.0f, 3.0f}) {
    Session one = session(command);
    launch(one);
    call(one);
    bool broken = false;
    out(one, 0, &broken);
    EXPECT_TRUE(broken) << "command " << command;
  }
}

TEST_F(SessionTest, ReturnsWhatWasPrinted) {
  Session one = session(4);
  launch(one);
  call(one);
  const auto printed = one.finish();
  EXPECT_EQ(printed.text, "a line\n");
  EXPECT_FALSE(printed.too_much);
  EXPECT_EQ(one.finish().text, "") << "a second end is no harm";
}

TEST_F(SessionTest, NoticesAFloatingPointModeLeftChanged) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "MXCSR is x86's";
#endif
  Session one = session(5);
  launch(one);
  EXPECT_TRUE(call(one).float_state_changed);
}

// An order that is ended with the work is no verdict on the kernel.
TEST_F(SessionTest, ACallUnderWayEndsWithTheWork) {
  Session made = session(6);
  launch(made);
  const WorkLimit limit(WorkLimit::Clock::now() + milliseconds(200));
  const auto called = made.call(kZero, kZero, false, std::chrono::hours(1));
  ASSERT_FALSE(called.ok());
  EXPECT_EQ(called.error().kind, ErrorKind::stopped);
}

TEST_F(SessionTest, AnIdleKernelDoesNotRunInTheBackground) {
  SessionOptions options;
  options.passive_waits = true;
  Session one = session(0, options);
  launch(one);
  call(one);
  EXPECT_FALSE(one.runs_in_the_background());
}

TEST(SessionCores, EachThreadHasOneOfItsOwn) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "rdtscp is x86's";
#endif
  const auto cores = usable_cores(2);
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  const auto problem = testing::problem_of({tensor("x", TensorKind::input, {1})}, {}, {tensor("out", TensorKind::output, {2})});
  const auto built = testing::build(problem, R"(
#include <omp.h>
#include "problem.h"
extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel
  {
    unsigned core = 0;
    __builtin_ia32_rdtscp(&core);  // Linux keeps the core's number there
    out[omp_get_thread_num()] = float(core & 0xfff);
  }
}
)");
  ASSERT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
  SessionOptions options;
  options.mode = testing::sandbox_mode();
  options.threads = 2;
  options.cores = cores;
  Session one = std::move(Session::create(problem, *built.outcome.kernel, options)).value();
  fill<float>(one, 0, 0, {1});
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto launched = one.launch(kLong);
    ASSERT_TRUE(launched.ok() && launched->ok());
    const auto called = one.call(kZero, kZero, true, kLong);
    ASSERT_TRUE(called.ok() && called->ok()) << (called.ok() ? called->failure.diagnosis.summary : called.error().message);
    bool broken = false;
    const auto bytes = one.output(1, 0, broken);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(values_of<float>(*bytes), (std::vector<float>{static_cast<float>(cores[0]), static_cast<float>(cores[1])}));
    one.finish();
  }
}

TEST(SessionPrepare, PassesTheStateAndReportsWhatItHolds) {
  const auto problem = testing::problem_of({tensor("x", TensorKind::input, {2})}, {tensor("w", TensorKind::parameter, {2})},
                                           {tensor("out", TensorKind::output, {2})});
  const auto built = testing::build(problem, R"(
#include <cstdlib>
#include "problem.h"
extern "C" void* kw_prepare(const float* w) {
  auto* state = static_cast<float*>(std::malloc(1 << 20));
  for (int i = 0; i < 1 << 18; ++i) state[i] = w[i % 2] * 100;
  return state;
}
extern "C" void kw_release(void* state) { std::free(state); }
extern "C" void kw_kernel(void* state, const float* x, const float*, float* out) {
  for (int i = 0; i < 2; ++i) out[i] = x[i] + static_cast<float*>(state)[i];
}
)");
  ASSERT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
  ASSERT_TRUE(built.outcome.kernel->has_prepare);
  SessionOptions options;
  options.mode = testing::sandbox_mode();
  Session session = std::move(Session::create(problem, *built.outcome.kernel, options)).value();
  fill<float>(session, 0, 0, {1, 2});
  fill<float>(session, 1, 0, {3, 4});
  ASSERT_TRUE(session.launch(kLong)->ok());
  auto prepared = session.prepare(kLong);
  ASSERT_TRUE(prepared.ok() && prepared->ok());
  EXPECT_GE(prepared->value->bytes, 1 << 20);
  bool broken = false;
  ASSERT_TRUE(session.call(kZero, kZero, true, kLong)->ok());
  EXPECT_EQ(values_of<float>(*session.output(2, 0, broken)), (std::vector<float>{301, 402}));
  fill<float>(session, 1, 0, {5, 6});
  prepared = session.prepare(kLong);
  ASSERT_TRUE(prepared.ok() && prepared->ok());
  ASSERT_TRUE(session.call(kZero, kZero, true, kLong)->ok());
  EXPECT_EQ(values_of<float>(*session.output(2, 0, broken)), (std::vector<float>{501, 602})) << "prepared anew for new weights";
}

TEST(Poison, IsNotANumberForFloats) {
  const std::uint64_t word = poison_word(DType::f32);
  float floats[2];
  std::memcpy(floats, &word, sizeof word);
  EXPECT_TRUE(std::isnan(floats[0]) && std::isnan(floats[1]));
  const std::uint64_t wide = poison_word(DType::f64);
  double number;
  std::memcpy(&number, &wide, sizeof wide);
  EXPECT_TRUE(std::isnan(number));
}

}  // namespace
}  // namespace kw
