#include "dsl/session.h"

#include <gtest/gtest.h>

#include "support/compiled_kernel.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using std::chrono::milliseconds;

constexpr int kZero[] = {0};
constexpr milliseconds kLong{20000};

enum Misdeed : int {
  none,
  untouched,
  throws,
  endless,
  past_end,
  writes_input,
  null,
  forged_done,
  odd_event,
  odd_crash,
  not_json,
  no_object,
  odd_ticket
};

// x[0] says what to do. Its messages go to the evaluator's own socket, by a system call of its own.
constexpr const char* kKernel = R"(
#include <cstring>
#include <stdexcept>
#include "problem.h"
static void say(const char* text) {
#if defined(__x86_64__)
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(1), "D"(3), "S"(text), "d"(std::strlen(text)) : "rcx", "r11", "memory");
#endif
}
extern "C" void kw_kernel(const float* x, float* out) {
  const int what = int(x[0]);
  if (what == 1) return;
  for (int i = 0; i < 16; ++i) out[i] = x[i];
  switch (what) {
    case 2: throw std::runtime_error("boom");
    case 3: for (volatile int i = 0;; i = 1) {}
    case 4: reinterpret_cast<volatile float*>(out)[16] = 1; break;
    case 5: *const_cast<volatile float*>(x) = 1; break;
    case 6: *reinterpret_cast<volatile int*>(x[1] > 1e30f ? 8 : 16) = 1; break;
    case 7: say("{\"event\":\"done\",\"ticket\":1,\"nanoseconds\":[1],\"float_state_changed\":false}"); break;
    case 8: say("{\"event\":5}"); break;
    case 9: say("{\"event\":\"crash\",\"signal\":\"x\",\"address\":[]}"); break;
    case 10: say("nonsense"); break;
    case 11: say("[1,2,3]"); break;
    case 12: say("{\"event\":\"done\",\"ticket\":\"x\",\"nanoseconds\":[1],\"float_state_changed\":false}"); break;
    default: break;
  }
}
)";

class SessionErrorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    problem_ = new ProblemDescription(testing::vector_problem(16));
    built_ = new testing::BuiltKernel(testing::build(*problem_, kKernel));
    ASSERT_TRUE(built_->outcome.kernel.has_value()) << built_->outcome.diagnosis.summary;
  }
  static void TearDownTestSuite() {
    delete built_;
    delete problem_;
  }
  SessionErrorTest() : session_(make()) {}

  static Session make() {
    SessionOptions options;
    options.mode = testing::sandbox_mode();
    return std::move(Session::create(*problem_, *built_->outcome.kernel, options)).value();
  }
  Answered<CallReport> call(Misdeed what, milliseconds deadline = kLong) {
    std::vector<float> x(16, 1);
    x[0] = static_cast<float>(what);
    testing::fill(session_, 0, 0, x);
    auto called = session_.call(kZero, kZero, true, deadline);
    EXPECT_TRUE(called.ok()) << (called.ok() ? "" : called.error().message);
    return called.ok() ? *called : Answered<CallReport>{};
  }
  void launch() {
    const auto launched = session_.launch(kLong);
    ASSERT_TRUE(launched.ok() && launched->ok());
  }
  // The failure of one misdeed in a new process.
  RunFailure failure(Misdeed what, milliseconds deadline = kLong) {
    launch();
    const auto called = call(what, deadline);
    EXPECT_FALSE(called.ok()) << "misdeed " << what;
    return called.failure;
  }

  static inline ProblemDescription* problem_ = nullptr;
  static inline testing::BuiltKernel* built_ = nullptr;
  Session session_;
};

TEST_F(SessionErrorTest, AnUntouchedOutputIsPoison) {
  launch();
  ASSERT_TRUE(call(none).ok());
  ASSERT_TRUE(call(untouched).ok());
  bool broken = false;
  const auto bytes = session_.output(1, 0, broken);
  const std::uint64_t word = poison_word(DType::f32);
  for (std::size_t i = 0; i < bytes->size(); ++i)
    ASSERT_EQ((*bytes)[i], reinterpret_cast<const std::byte*>(&word)[i % 8]) << "an earlier result is left at " << i;
}

TEST_F(SessionErrorTest, AnExceptionIsToldAndTheProcessGoesOn) {
  const auto failed = failure(throws);
  EXPECT_EQ(failed.verdict, Verdict::crashed);
  EXPECT_EQ(failed.diagnosis.evidence.at(0), "boom");
  EXPECT_TRUE(call(none).ok());
}

TEST_F(SessionErrorTest, AnEndlessCallMeetsItsDeadline) {
  const auto failed = failure(endless, milliseconds(500));
  EXPECT_EQ(failed.verdict, Verdict::timed_out);
  EXPECT_NE(failed.diagnosis.summary.find("0.5 s"), std::string::npos);
}

TEST_F(SessionErrorTest, CrashesNameTheBuffer) {
  auto failed = failure(past_end);
  EXPECT_EQ(failed.verdict, Verdict::crashed);
  EXPECT_EQ(failed.diagnosis.place, "output 'out', 0 bytes past its end");
  EXPECT_TRUE(failed.program_counter.has_value());
  EXPECT_EQ(failure(writes_input).diagnosis.summary, "the kernel wrote to input 'x'");
  EXPECT_NE(failure(null).diagnosis.summary.find("null pointer"), std::string::npos);
}

TEST_F(SessionErrorTest, AfterACrashAnotherLaunchWorks) {
  failure(past_end);
  launch();
  EXPECT_TRUE(call(none).ok());
}

TEST_F(SessionErrorTest, ForgedMessagesAreMistrusted) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the forging kernel is x86's";
#endif
  for (const Misdeed what : {forged_done, odd_event, not_json, no_object, odd_ticket}) {
    const auto failed = failure(what);
    EXPECT_EQ(failed.verdict, Verdict::mistrusted) << "misdeed " << what << ": " << failed.diagnosis.summary;
  }
}

TEST_F(SessionErrorTest, AForgedCrashIsAFailureWhateverItsFields) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the forging kernel is x86's";
#endif
  EXPECT_NE(failure(odd_crash).verdict, Verdict::passed);
}

TEST_F(SessionErrorTest, AnObjectThatIsNotThereCannotBeLaunched) {
  SessionOptions options;
  options.mode = testing::sandbox_mode();
  CompiledKernel absent;
  absent.object = (built_->folder.path() / "absent.so").string();
  auto session = Session::create(*problem_, absent, options);
  ASSERT_TRUE(session.ok());
  const auto launched = session->launch(kLong);
  EXPECT_TRUE(!launched.ok() || !launched->ok());
}

}  // namespace
}  // namespace kw
