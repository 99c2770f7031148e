// The verdict on a candidate: compile, run on many inputs in the sandbox, compare with float64, and explain. It never
// times anything; a passed kernel is right, not fast.
#pragma once

#include <functional>

#include "dsl/candidate.h"
#include "problem/tensor_sets.h"
#include "record/verdict.h"

namespace kw {

struct VerifyOptions {
  sandbox::Mode mode = sandbox::Mode::bubblewrap;
  int threads = 1;
  std::vector<int> cores;
  std::string precision = "float32";
  std::optional<std::uint64_t> draw;  // the seed of the inputs; otherwise picked after the kernel is compiled
  bool fresh = false;                 // never use inputs of an earlier verification
  bool brief = false;                 // a few kinds of inputs in two processes: enough to go on with, not to rely on
  bool closer = false;                // where it is brief: also inputs in which one large value shows what is rounded otherwise
  // Where it is brief: a right first call that takes longer settles that the kernel is slow, and nothing more is asked of it.
  std::optional<double> hopeless_seconds;
  std::optional<double> call_timeout;
  double compile_timeout = 120;
  bool gpu_counters = false;               // also count what the first call on a virtual GPU does
  double gpu_seconds = 45;                 // of calls on a virtual GPU, after which no other kind of input is begun
  bool allow_torch = false;                // of a file with ModelNew: PyTorch's operators may do the work
  std::string gpu;                         // the data sheet that kernels in CUDA are for; empty: the usual one
  std::optional<vgpu::PresentGpu> device;  // they are built for it too, to be timed there; verification does not use it
  std::function<void(std::string_view)> progress;
};

struct Verification {
  VerdictRecord record;
  std::uint64_t draw = 0;               // what --seed repeats
  std::string gpu_lines;                // what was counted: the report of the first call, where it was asked for
  std::optional<double> hopeless_call;  // seconds of a call that was too slow for the rest to be looked at
};

// A Result error is the evaluator's own failure; everything that the kernel does wrong is in the record.
Result<Verification> verify(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store, OracleClient& oracle,
                            const VerifyOptions& options);

}  // namespace kw
