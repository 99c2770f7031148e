// Has torch.compile translate a problem while the search writes and compiles its first kernels, in a process of its own: what it
// leaves in its cache on disk makes loading that baseline for the confirmation quick. Nothing is timed meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "search/evaluator.h"

namespace kw {

class BaselineAhead {
 public:
  // Nothing where no confirmation asks for that baseline, where the search may end before it would be ready (so wherever kernels
  // are counted instead of seconds), or where a second copy of the problem might not fit beside the first.
  static std::unique_ptr<BaselineAhead> where_it_pays(const Evaluator& evaluator, const ProblemSource& problem,
                                                      const TimingSets& sets, std::optional<double> seconds_left);
  // `set`: inputs that have been drawn. It is given up after so many seconds, for the search waits with its timings.
  BaselineAhead(const Evaluator& evaluator, const ProblemSource& problem, const TensorSet& set, double most_seconds);
  // Ends what is under way.
  ~BaselineAhead();
  BaselineAhead(const BaselineAhead&) = delete;
  BaselineAhead& operator=(const BaselineAhead&) = delete;

 private:
  std::atomic<bool> unwanted_{false};
  std::thread thread_;
};

}  // namespace kw
