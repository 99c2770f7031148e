#include "search/run_budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace kw {
namespace {

// As seen on two cores: loading and warming torch.compile; compiling the kernel twice and running it for its profile.
constexpr double kTorchCompileSeconds = 8;
constexpr double kProfileSeconds = 3;

}  // namespace

RunBudget::RunBudget(const RunOptions& options, double spent) : options_(options), before_(spent) {}

double RunBudget::elapsed() const {
  return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::optional<double> RunBudget::left() const {
  if (options_.seconds <= 0) return std::nullopt;
  return std::max(0.0, options_.seconds - elapsed());
}

double RunBudget::seconds_per_baseline() const { return options_.seconds <= 0 ? 6 : std::clamp(options_.seconds * 0.06, 1.5, 8.0); }

void RunBudget::plan_confirmation(double drawing_seconds, bool with_compile) {
  confirmation_ = 1.2 * drawing_seconds + seconds_per_baseline() + kProfileSeconds;
  if (with_compile) confirmation_ += seconds_per_baseline() + kTorchCompileSeconds;
}

std::optional<std::string> RunBudget::spent_up(int evaluations, double next_batch_seconds) const {
  if (options_.evaluations > 0 && evaluations >= options_.evaluations) return fmt::format("{} evaluations were made", evaluations);
  // The first batch is always tried: a run that ends without a kernel helps nobody.
  if (options_.seconds > 0 && evaluations > 0 && elapsed() + next_batch_seconds + confirmation_ > options_.seconds)
    return "the time is up";
  return std::nullopt;
}

}  // namespace kw
