// How long a run may still search: its limits, less what ending it will take.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "record/run.h"

namespace kw {

class RunBudget {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // `spent`: seconds of earlier sessions of the run; `start`: of this one.
  RunBudget(const RunOptions& options, double spent, Moment start);

  [[nodiscard]] double elapsed() const;  // over all sessions
  [[nodiscard]] std::optional<double> left() const;
  // When all of it has to be over; nothing: no time was given.
  [[nodiscard]] std::optional<Moment> end() const;
  // When the search has to be over, so that its best kernel can be confirmed.
  [[nodiscard]] std::optional<Moment> end_of_search() const;
  // What confirming the winner is expected to take: drawing inputs that nothing has seen, and the rest. `slowness`: how many times
  // as long as on a quiet machine everything takes.
  enum class TorchCompile { left_out, translated_ahead, wanted };
  void plan_confirmation(double drawing_seconds, TorchCompile torch_compile, double slowness = 1);
  [[nodiscard]] double seconds_per_baseline() const;
  [[nodiscard]] double confirmation_seconds() const { return confirmation_; }
  // Why the search has to stop now, given what trying one more kernel will take; nothing where it may go on.
  [[nodiscard]] std::optional<std::string> spent_up(int evaluations, double next_seconds) const;

 private:
  RunOptions options_;
  double before_;
  double confirmation_ = 0;
  Moment start_;
};

}  // namespace kw
