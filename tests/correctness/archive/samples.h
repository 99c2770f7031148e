// Records to archive, and child processes to archive them from.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "archive/archive.h"
#include "base/hash.h"

namespace kw::testing {

inline ProblemDescription sample_problem(const std::string& name = "relu") {
  ProblemDescription problem;
  problem.name = name;
  problem.file = "problems/" + name + ".py";
  problem.source_hash = sha256(name);
  problem.torch_version = "2.0.1";
  TensorSpec x;
  x.name = x.c_name = "x";
  x.shape = {16, 64};
  x.strides = {64, 1};
  x.span = 1024;
  TensorSpec out = x;
  out.name = out.c_name = "out";
  out.kind = TensorKind::output;
  problem.inputs = {x};
  problem.outputs = {out};
  problem.flops = 1024;
  problem.bytes = problem.essential_bytes = 8192;
  problem.notes = {"a note"};
  return problem;
}

inline Machine sample_machine(const std::string& id = "machine-1") {
  Machine machine;
  machine.id = id;
  machine.cpu_model = "A CPU";
  machine.cores = 4;
  machine.isas = {"sse2", "avx2"};
  machine.peaks = {{"avx2", 4, 250.5}};
  machine.bandwidth = {{"copy", 4, 1e9, 22.25}};
  return machine;
}

inline TimingRecord sample_timing(double speedup = 1.5) {
  TimingRecord timing;
  timing.comparisons = {{"eager", 3e-4, 3e-4 / speedup, speedup, {speedup - 0.25, speedup + 0.25}, 20, 400}};
  timing.seconds = 3e-4 / speedup;
  timing.zone = "memory";
  timing.threads = 4;
  return timing;
}

inline Evaluation sample_evaluation(const std::string& source = "void kw_kernel() {}\n") {
  Evaluation evaluation;
  evaluation.kernel_source = source;
  evaluation.kernel_file = "kernels/relu.cpp";
  evaluation.key.kernel_hash = sha256(source);
  evaluation.key.knobs = {{"KW_TILE", "32"}, {"KW_UNROLL", "4"}};
  evaluation.key.dsl = "cpp";
  evaluation.key.problem_hash = sample_problem().source_hash;
  evaluation.key.machine_id = sample_machine().id;
  evaluation.key.compiler = "g++ 12.2.0";
  evaluation.key.flags = "-O3 -march=native";
  evaluation.key.torch_version = sample_problem().torch_version;
  evaluation.key.evaluator_version = "1";
  evaluation.key.sandbox = "bubblewrap";
  evaluation.key.threads = 4;
  evaluation.verdict.verdict = Verdict::passed;
  evaluation.verdict.sandbox = "bubblewrap";
  evaluation.verdict.repeat = "kernelwright check kernels/relu.cpp";
  evaluation.verdict.checks = {{"given", "given", 7, 4, true, {{"out", 1e-7, 2e-7, 1e-8, 2e-8, 0.5, 0, 1024}}}};
  return evaluation;
}

// Opens the archive and puts the sample problem and machine that evaluations refer to.
inline Result<Archive> open_with_samples(const fs::path& path) {
  KW_TRY(auto archive, Archive::open(path));
  KW_CHECK(archive.put_problem(sample_problem()));
  KW_CHECK(archive.put_machine(sample_machine()));
  return archive;
}

// Forks a child that exits with what `work` returns.
template <typename Work>
pid_t start_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

// The child's exit status, or -signal.
inline int wait_for(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace kw::testing
