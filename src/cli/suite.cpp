#include "suite/suite.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "cli/commands.h"
#include "cli/interruption.h"
#include "cli/live_view.h"
#include "report/page.h"
#include "report/suite_text.h"
#include "suite/problem_folder.h"

namespace kw {
namespace {

Result<SuiteRequest> request_of(const BenchOptions& options) {
  SuiteRequest request;
  request.folder = options.folder;
  request.settings.search = options.search;
  request.settings.evaluations = options.evaluations;
  request.settings.seed = options.seed;
  request.settings.precision = options.precision;
  request.settings.threads = options.threads;
  request.settings.compile = std::ranges::find(options.baselines, "compile") != options.baselines.end();
  std::vector<std::string> limits = options.scale_to;
  std::ranges::sort(limits);  // the same limits are the same settings, in whatever order
  request.settings.scale_to = fmt::format("{}", fmt::join(limits, ", "));
  if (options.time.empty() && options.evaluations > 0) request.settings.seconds = 0;
  if (!options.time.empty()) {
    KW_TRY(request.settings.seconds, seconds_from_text(options.time));
  }
  KW_TRY(request.scale, scale_limits(options.scale_to));
  request.only = options.only;
  request.again = options.again;
  request.unsafe_no_sandbox = options.unsafe_no_sandbox;
  request.results = options.out;
  if (options.out.empty()) request.results = fs::path(name_of_folder(options.folder)).stem().string() + "-bench";
  return request;
}

Status write_results(const SuiteRecord& suite, const fs::path& folder) {
  KW_CHECK(write_file_atomically(folder / "results.csv", suite_csv(suite)));
  return write_file_atomically(folder / "index.html", suite_page(suite));
}

// 0: the result goes into a file or a pipe, where nothing has to be left out.
std::size_t terminal_width() {
  winsize size{};
  return ::isatty(1) != 0 && ::ioctl(1, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// What a person sees while it goes on: the live table of the search at hand, and a line for each problem that is done.
class SuiteView {
 public:
  explicit SuiteView(Output& output) : output_(output), is_terminal_(::isatty(2) != 0) {}

  void show(const SuiteProgress& progress) {
    if (progress.finished != nullptr) {
      run_.reset();
      if (!output_.json())
        fmt::print(stderr, "{:>{}}/{}  {}\n", progress.position, fmt::formatted_size("{}", progress.count), progress.count,
                   suite_line(*progress.finished, is_terminal_ ? output_.paint() : Paint{}));
      return;
    }
    if (output_.json() || !is_terminal_) return;
    if (progress.run == nullptr) {
      output_.progress(fmt::format("{}/{}  {}: {}", progress.position, progress.count, progress.problem, progress.doing));
      return;
    }
    if (!run_) {
      output_.progress("");
      run_.emplace(output_);
    }
    run_->show(*progress.run);
  }
  void end() { run_.reset(); }

 private:
  Output& output_;
  bool is_terminal_;
  std::optional<LiveView> run_;
};

}  // namespace

Result<int> run_bench(const BenchOptions& options, Output& output) {
  KW_TRY(const SuiteRequest request, request_of(options));
  SuiteView view(output);
  Status written;
  SuiteOutcome outcome;
  {
    const Interruption interruption;
    const auto on_progress = [&](const SuiteProgress& progress) {
      view.show(progress);
      if (progress.finished != nullptr && written.ok()) written = write_results(*progress.suite, request.results);
    };
    KW_TRY(outcome, run_suite(request, on_progress, interruption.wanted()));
    view.end();
  }
  KW_CHECK(std::move(written));
  KW_CHECK(write_results(outcome.suite, request.results));
  std::string text = suite_text(outcome.suite, output.paint(), terminal_width());
  text += fmt::format("\n{}: results.csv, results.json, index.html, kernels/\n", request.results.string());
  const SuiteTotals totals = totals_of(outcome.suite);
  if (outcome.interrupted) text += "interrupted: the same command goes on from here\n";
  output.result(
      text,
      {{"suite", outcome.suite}, {"totals", totals}, {"folder", request.results.string()}, {"interrupted", outcome.interrupted}});
  const bool has_won = std::ranges::all_of(outcome.suite.rows, [&](const SuiteRow& row) {
    return !is_wanted(row.problem, options.only) || row.standing() == Standing::faster;
  });
  return outcome.all_passed && (!options.require_win || has_won) ? kPassed : kNotPassed;
}

}  // namespace kw
