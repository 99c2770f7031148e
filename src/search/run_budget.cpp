#include "search/run_budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace kw {
namespace {

// As seen on two cores: loading and warming torch.compile; compiling the kernel twice and running it for its profile.
constexpr double kTorchCompileSeconds = 8;
constexpr double kTranslatedSeconds = 4;  // the same where its cache has what it needs
constexpr double kProfileSeconds = 3;
// The most of all time that is set aside for confirming: what is confirmed has to be found first.
constexpr double kMostForConfirmation = 0.5;

}  // namespace

RunBudget::RunBudget(const RunOptions& options, double spent, Moment start) : options_(options), before_(spent), start_(start) {}

double RunBudget::elapsed() const {
  return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::optional<double> RunBudget::left() const {
  if (options_.seconds <= 0) return std::nullopt;
  return std::max(0.0, options_.seconds - elapsed());
}

std::optional<RunBudget::Moment> RunBudget::end() const {
  if (options_.seconds <= 0) return std::nullopt;
  return start_ + std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(options_.seconds - before_));
}

std::optional<RunBudget::Moment> RunBudget::end_of_search() const {
  if (options_.seconds <= 0) return std::nullopt;
  return *end() - std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(confirmation_));
}

double RunBudget::seconds_per_baseline() const { return options_.seconds <= 0 ? 6 : std::clamp(options_.seconds * 0.06, 1.5, 8.0); }

void RunBudget::plan_confirmation(double drawing_seconds, TorchCompile torch_compile, double slowness) {
  constexpr double kMostSlowness = 4;
  slowness = std::clamp(slowness, 1.0, kMostSlowness);
  confirmation_ = 1.2 * drawing_seconds + seconds_per_baseline() + slowness * kProfileSeconds;
  if (torch_compile != TorchCompile::left_out)
    confirmation_ +=
        seconds_per_baseline() + slowness * (torch_compile == TorchCompile::wanted ? kTorchCompileSeconds : kTranslatedSeconds);
  if (options_.seconds > 0) confirmation_ = std::min(confirmation_, kMostForConfirmation * options_.seconds);
}

std::optional<std::string> RunBudget::spent_up(int evaluations, double next_seconds) const {
  if (options_.evaluations > 0 && evaluations >= options_.evaluations) return fmt::format("{} evaluations were made", evaluations);
  // A first kernel is always begun: the limit on all of the run's work ends it (see end()).
  if (options_.seconds > 0 && evaluations > 0 && elapsed() + next_seconds + confirmation_ > options_.seconds)
    return "the time is up";
  return std::nullopt;
}

}  // namespace kw
