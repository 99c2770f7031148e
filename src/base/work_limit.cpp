#include "base/work_limit.h"

#include <algorithm>
#include <utility>

namespace kw {

struct WorkLimit::State {
  std::optional<Clock::time_point> until;
  const std::atomic<bool>* stop = nullptr;
  std::shared_ptr<const State> outer;
};

namespace {

thread_local std::shared_ptr<const WorkLimit::State> current_limit;

}  // namespace

WorkLimit::WorkLimit(std::optional<Clock::time_point> until, const std::atomic<bool>* stop) : before_(current_limit) {
  current_limit = std::make_shared<const State>(State{until, stop, before_});
}

WorkLimit::WorkLimit(std::shared_ptr<const State> of_another_thread)
    : before_(std::exchange(current_limit, std::move(of_another_thread))) {}

WorkLimit::~WorkLimit() { current_limit = std::move(before_); }

std::shared_ptr<const WorkLimit::State> WorkLimit::current() { return current_limit; }

bool work_was_interrupted() {
  for (const WorkLimit::State* each = current_limit.get(); each != nullptr; each = each->outer.get())
    if (each->stop != nullptr && *each->stop) return true;
  return false;
}

std::optional<double> seconds_of_work_left() {
  std::optional<WorkLimit::Clock::time_point> first;
  for (const WorkLimit::State* each = current_limit.get(); each != nullptr; each = each->outer.get())
    if (each->until && (!first || *each->until < *first)) first = each->until;
  if (!first) return std::nullopt;
  return std::max(0.0, std::chrono::duration<double>(*first - WorkLimit::Clock::now()).count());
}

std::optional<Error> work_must_end() {
  if (current_limit == nullptr) return std::nullopt;
  if (work_was_interrupted()) return Error{ErrorKind::stopped, "it was interrupted", ""};
  if (const auto left = seconds_of_work_left(); left && *left <= 0) return Error{ErrorKind::stopped, "the time is up", ""};
  return std::nullopt;
}

}  // namespace kw
