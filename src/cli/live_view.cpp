#include "cli/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "report/run_text.h"

namespace kw {
namespace {

LiveState state_of(const RunProgress& progress) {
  LiveState state;
  state.problem = progress.run->problem_name;
  state.search = progress.run->options.search;
  state.phase = progress.phase;
  state.doing = progress.doing;
  if (progress.best != nullptr) {
    state.best_speedup = progress.best->speedup;
    state.interval = progress.best->interval;
    state.best_index = progress.best->index;
    state.share_of_ceiling = progress.best->share_of_ceiling;
    state.strategies = progress.best->real_strategies();
  }
  if (progress.run->options.is_estimated()) {
    state.estimated_on = progress.run->options.machine.empty() ? "a100" : progress.run->options.machine;
    state.reference = progress.run->reference;
  }
  state.evaluations = progress.evaluations;
  state.failures = progress.failures;
  state.elapsed_seconds = progress.elapsed_seconds;
  state.seconds_left = progress.seconds_left;
  if (progress.run->options.evaluations > 0) state.evaluations_left = progress.run->options.evaluations - progress.evaluations;
  winsize size{};
  if (::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) state.width = size.ws_col;
  return state;
}

constexpr auto kBetweenLines = std::chrono::seconds(5);

}  // namespace

LiveView::LiveView(const Output& output) : form_(output.json() ? Form::silent : ::isatty(2) != 0 ? Form::table : Form::lines) {
  paint_.on = output.paint().on && form_ == Form::table;
}

LiveView::~LiveView() {
  if (form_ == Form::table) draw("");
}

void LiveView::draw(const std::string& table) {
  if (lines_drawn_ > 0) fmt::print(stderr, "\x1b[{}A\r\x1b[J", lines_drawn_);
  std::fputs(table.c_str(), stderr);
  std::fflush(stderr);
  lines_drawn_ = static_cast<int>(std::count(table.begin(), table.end(), '\n'));
}

void LiveView::show(const RunProgress& progress) {
  if (form_ == Form::silent) return;
  const LiveState state = state_of(progress);
  if (form_ == Form::table) return draw(live_table(state, paint_));
  const auto now = std::chrono::steady_clock::now();
  // Before the first kernel and while the last is confirmed, what is being waited for.
  if (progress.is_confirming || progress.evaluations == 0) {
    const bool is_announced = !progress.is_confirming || state.phase == confirming_;
    if (is_announced && now - last_line_ < kBetweenLines) return;
    if (progress.is_confirming) confirming_ = state.phase;
    last_line_ = now;
    fmt::print(stderr, "{}{}\n", state.phase, state.doing.empty() ? "" : ": " + state.doing);
    return;
  }
  // A line when there is a new best kernel, and otherwise every few seconds.
  const bool better = state.best_speedup > last_best_ * 1.005;
  if (progress.evaluations == last_evaluations_ || (!better && now - last_line_ < kBetweenLines)) return;
  last_evaluations_ = progress.evaluations;
  last_best_ = std::max(last_best_, state.best_speedup);
  last_line_ = now;
  fmt::print(stderr, "{}\n", live_line(state));
}

}  // namespace kw
