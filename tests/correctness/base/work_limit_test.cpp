#include "base/work_limit.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace kw {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

WorkLimit::Clock::time_point soon(milliseconds from_now) { return WorkLimit::Clock::now() + from_now; }

TEST(WorkLimit, WithoutOneWorkGoesOn) {
  EXPECT_FALSE(work_must_end());
  EXPECT_FALSE(seconds_of_work_left());
}

TEST(WorkLimit, EndsWorkAtItsMomentAndNotBeyondItself) {
  {
    const WorkLimit later(soon(hours(1)));
    EXPECT_FALSE(work_must_end());
    const WorkLimit past(soon(milliseconds(-1)));
    ASSERT_TRUE(work_must_end());
    EXPECT_EQ(work_must_end()->kind, ErrorKind::stopped);
    EXPECT_EQ(work_must_end()->message, "the time is up");
    EXPECT_EQ(*seconds_of_work_left(), 0);
  }
  EXPECT_FALSE(work_must_end());
}

TEST(WorkLimit, AnInnerOneDoesNotLiftAnOuterOne) {
  std::atomic<bool> stop{false};
  const WorkLimit outer(std::nullopt, &stop);
  const WorkLimit inner(soon(hours(1)));
  EXPECT_FALSE(work_must_end());
  stop = true;
  ASSERT_TRUE(work_must_end());
  EXPECT_EQ(work_must_end()->message, "it was interrupted");
  EXPECT_TRUE(work_was_interrupted());
}

TEST(WorkLimit, HoldsInThreadsThatTakeItOver) {
  std::atomic<bool> stop{true};
  const WorkLimit limit(std::nullopt, &stop);
  bool without = true, with = false;
  std::thread([&, ours = WorkLimit::current()] {
    without = work_must_end().has_value();
    const WorkLimit taken(ours);
    with = work_must_end().has_value();
  }).join();
  EXPECT_FALSE(without);
  EXPECT_TRUE(with);
}

// Without the limit these would wait for an hour.
TEST(WorkLimit, EndsAProgramThatIsWaitedFor) {
  const WorkLimit limit(soon(milliseconds(200)));
  const auto outcome = run_command({{"sleep", "3600"}, {}, "", hours(1)});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::stopped);
}

TEST(WorkLimit, EndsAProgramThatHasClosedItsOutput) {
  const WorkLimit limit(soon(milliseconds(200)));
  const auto outcome = run_command({{"sh", "-c", "exec >&- 2>&-; exec sleep 3600"}, {}, "", hours(1)});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::stopped);
}

}  // namespace
}  // namespace kw
