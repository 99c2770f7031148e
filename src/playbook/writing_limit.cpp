#include "playbook/writing_limit.h"

#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "base/work_limit.h"

namespace kw {
namespace {

// The largest networks of the problem sets take a tenth of this text; a compiler needs minutes for more.
constexpr std::size_t kMostText = 8 << 20;
constexpr double kMostSeconds = 10;
constexpr std::size_t kStepsBetweenLooks = 256;

// Of this thread: on a busy machine the same kernels are written.
double processor_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

struct Spent {
  std::size_t text = 0, steps = 0;
  double start = processor_seconds();
};
thread_local std::optional<Spent> spent;
thread_local int nested = 0;

}  // namespace

WritingLimit::WritingLimit() {
  if (nested++ == 0) spent.emplace();
}

WritingLimit::~WritingLimit() {
  if (--nested == 0) spent.reset();
}

void count_writing(std::size_t text_bytes) {
  if (!spent) return;
  spent->text += text_bytes;
  if (spent->text > kMostText)
    throw WritingEnded{bad_input(fmt::format("written out, the kernel is longer than {} MB", kMostText >> 20),
                                 "fewer strategies that fuse; or take the problem apart")};
  if (++spent->steps % kStepsBetweenLooks != 0) return;
  if (auto end = work_must_end()) throw WritingEnded{std::move(*end)};
  if (processor_seconds() - spent->start > kMostSeconds)
    throw WritingEnded{bad_input(fmt::format("writing the kernel takes longer than {:.0f} s", kMostSeconds),
                                 "fewer strategies that fuse; or take the problem apart")};
}

}  // namespace kw
