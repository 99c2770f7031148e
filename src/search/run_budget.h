// How long a run may still search: its limits, less what ending it will take.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "record/run.h"

namespace kw {

class RunBudget {
 public:
  // `spent`: seconds of earlier sessions of the run.
  RunBudget(const RunOptions& options, double spent);

  [[nodiscard]] double elapsed() const;  // over all sessions
  [[nodiscard]] std::optional<double> left() const;
  // What confirming the winner is expected to take: drawing inputs that nothing has seen, and the rest.
  void plan_confirmation(double drawing_seconds, bool with_compile);
  [[nodiscard]] double seconds_per_baseline() const;
  // Why the search has to stop now, given what the next batch will take; nothing where it may go on.
  [[nodiscard]] std::optional<std::string> spent_up(int evaluations, double next_batch_seconds) const;

 private:
  RunOptions options_;
  double before_;
  double confirmation_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kw
