// Searches as text for a terminal: the list of runs, one run in full, the ledger, and the live view of a run that is going on.
// Read-only: it prints what the records say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/run.h"
#include "report/terminal.h"

namespace kw {

// A run as a row of a list.
struct RunListing {
  RunRecord run;
  int evaluations = 0;
  int passed = 0;  // of those
};

// One row of the ledger: what a strategy promised and what it gave, over `comparisons` of kernels.
struct LedgerLine {
  std::string strategy;
  std::string zone;
  std::string workload_class;
  double predicted = 1;  // times faster
  double measured = 1;   // the centre of the measurements
  double low = 1, high = 1;
  int comparisons = 0;
  int failures = 0;
  bool estimated = false;  // for GPUs: by estimates, not by timings
};

// Where a run stands, while it is going on.
struct LiveState {
  std::string problem;
  std::string search;
  std::string phase;        // "generation 4", "structure", "confirming the winner"
  std::string doing;        // "timing individual 88"; may be empty
  double best_speedup = 0;  // over eager; 0: nothing has passed yet
  Interval interval;
  std::int64_t best_index = -1;
  double share_of_ceiling = 0;
  std::vector<std::string> strategies;  // of the best
  int evaluations = 0;
  std::map<std::string, int> failures;  // by verdict
  double elapsed_seconds = 0;
  std::optional<double> seconds_left;
  std::optional<int> evaluations_left;
  std::string estimated_on;  // the GPU, where nothing is timed
  std::string reference;     // what estimates are compared with
  std::size_t width = 100;   // columns of the terminal: no line is longer
};

// The winner; while there is none, the fastest that has passed; null where nothing has.
const Individual* best_of(const RunRecord& run, const std::vector<Individual>& individuals);

// What is said first of a run: how its kernel stands beside PyTorch, or that nothing is confirmed. Empty while it goes on, and for
// estimates.
std::string first_line(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint);

std::string runs_text(const std::vector<RunListing>& runs, const Paint& paint);
// All that is known of a run; and what its end says, without each strategy's evidence, the lineage and the progress.
std::string run_text(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint);
std::string summary_text(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint);
std::string ledger_text(const std::vector<LedgerLine>& rows, const Paint& paint);

// Always as many lines, so that it can be drawn over itself.
constexpr int kLiveLines = 7;
std::string live_table(const LiveState& state, const Paint& paint);
// The same in one line without a line break, for logs.
std::string live_line(const LiveState& state);

// 42 s, 10 min 03 s, 2 h 05 min.
// The sub-problems of a problem of many layers: how many, and where the time goes. Empty where there are none.
std::string parts_text(const std::vector<PartRecord>& parts, const Paint& paint);

std::string human_duration(double seconds);

}  // namespace kw
