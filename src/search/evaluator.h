// A problem and a kernel in, an archived evaluation out: the stages in their order, for one kernel at a time.
#pragma once

#include <functional>
#include <memory>

#include "archive/archive.h"
#include "dsl/candidate.h"
#include "measure/gpu_estimate.h"
#include "measure/measure.h"
#include "problem/tensor_sets.h"
#include "search/gpu_place.h"
#include "verify/verify.h"

namespace kw {

struct EvaluatorOptions {
  int threads = 0;                    // 0: as many as cores
  std::string precision = "float32";  // the contract
  bool unsafe_no_sandbox = false;
  bool again = false;                 // evaluate even if the archive knows the answer
  bool fresh = false;                 // new inputs, never seen before
  std::optional<std::uint64_t> seed;  // the inputs of an earlier verdict
  std::optional<double> call_timeout;
  double compile_timeout = 120;
  double seconds_per_baseline = 8;
  double good_enough = 0.015;
  double told_enough = 0;  // see MeasureOptions
  int least_pairs = 12;
  bool eager = true;
  bool compile = true;
  bool allow_torch = false;                // of a file with ModelNew: PyTorch's operators may do the work
  std::string gpu;                         // the data sheet that kernels in CUDA are for: an id or a file; empty: the usual one
  std::optional<vgpu::PresentGpu> device;  // the machine's own GPU, where kernels in CUDA are timed on it
  std::string gpu_note;                    // why they are not, although there is one
  double gpu_seconds = 45;                 // of calls in a verification on a virtual GPU, more or less
  std::function<void(std::string_view)> progress;

  void go_to(const GpuPlace& place) {
    gpu = place.sheet;
    device = place.device;
    gpu_note = place.note;
  }
};

struct Evaluated {
  Evaluation evaluation;
  bool from_archive = false;
};

// The command that repeats a verdict, for who calls the kernel's file otherwise: `command`, with the inputs of the earlier one.
std::string repeated_as(const std::string& earlier, const std::string& command);

class Evaluator {
 public:
  static Result<std::unique_ptr<Evaluator>> open(EvaluatorOptions options);

  Result<ProblemSource> problem(const fs::path& file);
  // The oracle's import of PyTorch goes on while other work is done.
  Status warm_up() { return oracle_.warm_up(); }

  Result<Evaluated> verify(const ProblemSource& problem, Candidate& candidate, const std::string& command);
  // A few kinds of inputs of a draw that stays the same, for a search to go on with. Nothing is archived.
  Result<VerdictRecord> verify_briefly(const ProblemSource& problem, Candidate& candidate, std::uint64_t draw, bool closer = false);
  // The same, given up after the first right call where that takes longer than `hopeless_seconds`: then it says how long.
  struct BriefCheck {
    VerdictRecord verdict;
    std::optional<double> hopeless_call;
  };
  Result<BriefCheck> check_briefly(const ProblemSource& problem, Candidate& candidate, std::uint64_t draw, bool closer,
                                   std::optional<double> hopeless_seconds);
  // The same for a kernel in CUDA, with the estimate that the first of its calls gives; none where it did not pass.
  struct BriefEstimate {
    VerdictRecord verdict;
    std::optional<EstimateRecord> estimate;
  };
  Result<BriefEstimate> estimate_briefly(const ProblemSource& problem, Candidate& candidate, std::uint64_t draw);
  // Verifies and times with inputs that are drawn for it, whatever is cached. Inputs that a seed names are only checked, before.
  Result<Evaluated> measure(const ProblemSource& problem, Candidate& candidate, const std::string& command);
  // The estimate of a compiled kernel in CUDA, on inputs of this draw; nothing is archived.
  Result<Estimation> estimate(const ProblemSource& problem, const Candidate& candidate, std::uint64_t draw);
  // Measures whatever the archive knows.
  Result<Evaluated> confirm(const ProblemSource& problem, Candidate& candidate, const std::string& command,
                            double seconds_per_baseline);
  // Times one kernel against another; nothing is archived.
  Result<Measurement> measure_against(const ProblemSource& problem, Candidate& baseline, Candidate& candidate);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] OracleClient& oracle() { return oracle_; }
  [[nodiscard]] sandbox::Mode mode() const { return mode_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] Archive& archive() { return *archive_; }
  [[nodiscard]] const EvaluatorOptions& options() const { return options_; }
  [[nodiscard]] Result<MeasureOptions> measure_options() const;
  // Of kernels for a GPU: the machine's own, where they are timed.
  [[nodiscard]] Result<std::optional<GpuTiming>> gpu_timing() const;
  [[nodiscard]] CompileOptions compile_options() const {
    CompileOptions options = CompileOptions::within(options_.compile_timeout, mode_);
    options.gpu = options_.gpu;
    options.device = options_.device;
    options.allow_torch = options_.allow_torch;
    return options;
  }
  void use_gpu(const GpuPlace& place) { options_.go_to(place); }
  void allow_torch(bool allowed) { options_.allow_torch = allowed; }
  // Of the GPU that kernels in CUDA are for; with its own figures where it is here.
  [[nodiscard]] Result<vgpu::GpuSheet> gpu_sheet() const;
  // Puts the problem and the machine into the archive, which everything about them there refers to.
  Status archive_subjects(const ProblemSource& problem);
  // What outputs of timed calls go through.
  [[nodiscard]] OutputCheck output_check(const ProblemSource& problem);  // `problem` outlives it
  Result<EvaluationKey> key_of(const ProblemSource& problem, const Candidate& candidate) const;

 private:
  Evaluator(EvaluatorOptions options, OracleOptions oracle) : options_(std::move(options)), oracle_(std::move(oracle)) {}
  [[nodiscard]] VerifyOptions verify_options() const;
  [[nodiscard]] VerifyOptions fresh_inputs() const;  // the same, on a draw that is made for it
  Result<Evaluated> archived(const ProblemSource& problem, Evaluation evaluation);
  Result<std::optional<Evaluation>> repeat(const ProblemSource& problem, Candidate& candidate, const std::string& command);
  Status estimate_and_time(const ProblemSource& problem, const Candidate& candidate, const std::string& command, std::uint64_t draw,
                           Evaluation& known);
  // Into the evaluation and the archive. The candidate is compiled and has passed.
  Status time(const ProblemSource& problem, const Candidate& candidate, const std::string& command, std::uint64_t draw,
              Evaluation& known);
  [[nodiscard]] bool is_measured(const Candidate& candidate, const Evaluation& known) const;
  // `draw` becomes the one that the verdict rests on.
  Result<Evaluation> judge(const ProblemSource& problem, Candidate& candidate, const std::string& command,
                           const VerifyOptions& options, std::uint64_t& draw);

  EvaluatorOptions options_;
  OracleClient oracle_;
  Machine machine_;
  sandbox::Mode mode_ = sandbox::Mode::bubblewrap;
  int threads_ = 1;
  std::vector<int> cores_;
  std::unique_ptr<Archive> archive_;
};

}  // namespace kw
