// Paired timing of a candidate against PyTorch (or another kernel): alternating blocks, the same cores, threads and
// allocator settings, other inputs for each call, outputs checked afterwards.
#pragma once

#include "measure/subject.h"
#include "record/machine.h"
#include "record/timing.h"

namespace kw {

struct MeasureOptions {
  sandbox::Mode mode = sandbox::Mode::bubblewrap;
  int threads = 1;
  std::vector<int> cores;
  double seconds_per_baseline = 8;  // at the most
  double good_enough = 0.015;       // stop when the interval is within this share of the speedup, either side
  double told_enough = 0;           // the same where the interval is clearly on one side of 1; 0: it makes no difference
  int least_pairs = 12;
  int fewest_pairs = 6;       // even when the time is up; half of them when three times as much has passed
  double hopeless_below = 0;  // a speedup that is clearly below this after a pair or two is not made more precise
  bool eager = true;
  bool compile = true;  // torch.compile
  std::optional<double> call_timeout;
  std::optional<GpuTiming> gpu;  // the kernel and PyTorch run there, and its clock is theirs
  std::function<void(std::string_view)> progress;
};

// A timing, or why there can be none: a timed call that was wrong, crashed, or is not to be trusted.
struct Measurement {
  std::optional<TimingRecord> timing;
  Verdict verdict = Verdict::passed;
  Diagnosis diagnosis;
};

// How many sets of inputs a timing of this problem rotates over.
int timing_set_count(const ProblemDescription& problem);
// Draws them; weights are shared.
Result<TimingSets> timing_sets(const ProblemDescription& problem, const TensorStore& store, std::uint64_t draw,
                               OracleClient& oracle);

// Calls the candidate once on each set, as in a block, and checks the outputs that are still there; what went wrong, or nothing.
Result<std::optional<RunFailure>> check_timed_calls(const Candidate& candidate, const ProblemDescription& problem,
                                                    const TimingSets& sets, const Machine& machine, const OutputCheck& check,
                                                    const MeasureOptions& options);

// The candidate must have been compiled. Times one thing at a time: it takes the machine's lock.
Result<Measurement> measure(const Candidate& candidate, const ProblemDescription& problem, const TimingSets& sets,
                            const Machine& machine, OracleClient& oracle, const OutputCheck& check, const MeasureOptions& options);

// Against a baseline that stays loaded, for many candidates one after the other. Shorter than the whole: whether a kernel
// remembers answers is left to the measurement that a result rests on.
Result<Measurement> measure_briefly(Subject& baseline, const std::string& name, const Candidate& candidate,
                                    const ProblemDescription& problem, const TimingSets& sets, const Machine& machine,
                                    const OutputCheck& check, const MeasureOptions& options);

// One kernel against another on the same problem; `baseline` is the first.
Result<Measurement> measure_kernels(const Candidate& baseline, const Candidate& candidate, const ProblemDescription& problem,
                                    const TimingSets& sets, const Machine& machine, const OutputCheck& check,
                                    const MeasureOptions& options);

}  // namespace kw
