#include "machine/machine_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

#include "base/work_limit.h"

namespace kw {
namespace {

using std::chrono::milliseconds;

class MachineLockTest : public ::testing::Test {
 protected:
  MachineLockTest() : folder_(std::move(TempFolder::make("kw-lock")).value()) {}
  [[nodiscard]] Result<MachineLock> acquire(const LockWait& wait = {}) const { return MachineLock::acquire(wait, folder_.path()); }
  [[nodiscard]] bool is_free() const { return acquire({milliseconds(0), {}}).ok(); }

  // A process that holds the lock until it is killed; returns once it has it.
  [[nodiscard]] pid_t start_holder() const {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const Result<MachineLock> lock = acquire();
      const char told = lock.ok() ? 'y' : 'n';
      if (write(ready[1], &told, 1) != 1) _exit(1);
      for (;;) pause();
    }
    char told = 0;
    EXPECT_EQ(read(ready[0], &told, 1), 1);
    EXPECT_EQ(told, 'y');
    close(ready[0]);
    close(ready[1]);
    return child;
  }

  TempFolder folder_;
};

TEST_F(MachineLockTest, IsFreeAgainWhenItsObjectEnds) {
  {
    const Result<MachineLock> lock = acquire();
    ASSERT_TRUE(lock.ok()) << lock.error().message;
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
}

TEST_F(MachineLockTest, MovesWithItsObject) {
  Result<MachineLock> first = acquire();
  ASSERT_TRUE(first.ok());
  std::optional<MachineLock> second(std::move(*first));
  EXPECT_FALSE(is_free());
  second.reset();
  EXPECT_TRUE(is_free());
}

TEST_F(MachineLockTest, ThreadsExcludeEachOther) {
  std::atomic<int> inside = 0, entered = 0;
  std::atomic<bool> overlapped = false;
  const auto work = [&] {
    for (int i = 0; i < 10; ++i) {
      const Result<MachineLock> lock = acquire();
      if (!lock.ok()) return;
      if (++inside != 1) overlapped = true;
      std::this_thread::sleep_for(milliseconds(1));
      --inside;
      ++entered;
    }
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  EXPECT_FALSE(overlapped);
  EXPECT_EQ(entered, 20);
}

TEST_F(MachineLockTest, ProcessesExcludeEachOtherAndADeadOneLetsGo) {
  const pid_t holder = start_holder();
  const Result<MachineLock> refused = acquire({milliseconds(0), {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("process " + std::to_string(holder)), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find((folder_.path() / "timing.lock").string()), std::string::npos);
  EXPECT_EQ(kill(holder, SIGKILL), 0);
  EXPECT_EQ(waitpid(holder, nullptr, 0), holder);
  EXPECT_TRUE(is_free());
}

TEST_F(MachineLockTest, WaitsUntilTheHolderEnds) {
  const pid_t holder = start_holder();
  int told = 0;
  LockWait wait;
  wait.on_wait = [&](milliseconds) {
    if (++told == 1) kill(holder, SIGKILL);
    return true;
  };
  const Result<MachineLock> lock = acquire(wait);
  EXPECT_TRUE(lock.ok());
  EXPECT_GE(told, 1);
  EXPECT_EQ(waitpid(holder, nullptr, 0), holder);
}

TEST_F(MachineLockTest, GivesUpWhenTold) {
  const Result<MachineLock> lock = acquire();
  ASSERT_TRUE(lock.ok());
  const Result<MachineLock> second = acquire({std::chrono::hours(1), [](milliseconds) { return false; }});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("gave up"), std::string::npos) << second.error().message;
}

TEST_F(MachineLockTest, NobodyWaitsForItWhenTheWorkHasToEnd) {
  const Result<MachineLock> held = acquire();
  const WorkLimit limit(WorkLimit::Clock::now() + milliseconds(50));
  const Result<MachineLock> second = acquire();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::stopped);
}

TEST_F(MachineLockTest, AFolderThatCannotBeMadeIsNamed) {
  const fs::path file = folder_.path() / "file";
  ASSERT_TRUE(write_file_atomically(file, "").ok());
  const Result<MachineLock> lock = MachineLock::acquire({}, file / "below");
  ASSERT_FALSE(lock.ok());
  EXPECT_NE(lock.error().message.find((file / "below").string()), std::string::npos) << lock.error().message;
}

}  // namespace
}  // namespace kw
