// Until when work may go on: up to a moment, and as long as nobody asks it to end. Whatever waits or takes long looks here several
// times a second, so that no caller on the way has to pass it on.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "base/result.h"

namespace kw {

// How long a wait may last before it has to look at the limit again.
inline constexpr std::chrono::milliseconds kLookAtLimit{100};

class WorkLimit {
 public:
  using Clock = std::chrono::steady_clock;
  struct State;

  // Holds for this thread as long as the object exists; what held before goes on holding. `stop` may be set by a signal's handler
  // and must outlive the object.
  explicit WorkLimit(std::optional<Clock::time_point> until, const std::atomic<bool>* stop = nullptr);
  // What holds in the thread that this one works for: current(), called there.
  explicit WorkLimit(std::shared_ptr<const State> of_another_thread);
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

  [[nodiscard]] static std::shared_ptr<const State> current();

 private:
  std::shared_ptr<const State> before_;
};

// Why the work of this thread has to end now, as an error of the kind `stopped`; nothing: it may go on.
std::optional<Error> work_must_end();
// Whether it was asked to end, rather than out of time.
bool work_was_interrupted();
// Seconds that are left; nothing: there is no moment at which it ends.
std::optional<double> seconds_of_work_left();

}  // namespace kw
