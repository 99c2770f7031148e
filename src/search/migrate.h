// A kernel in one DSL from a kernel in another: read into what it does by the evidence in its code, written anew by the target's
// coder with the counterparts of what was found, verified against the problem, and compared with what the source computes. It times
// nothing.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "llm/model.h"
#include "record/kernel.h"
#include "search/evaluator.h"

namespace kw {

struct MigrationRequest {
  std::string problem_file;
  std::string kernel_file;
  std::string from;  // empty: by the kernel's file
  std::string to;
  std::string out;   // where the new kernel will be written; empty: PROBLEM-DSL with the DSL's extension, in the current folder
  int attempts = 6;  // of a model, where the playbook does not know the problem
  std::uint64_t seed = 0;
  EvaluatorOptions evaluator;
  Model* model = nullptr;  // null: the playbook alone
};

// What became of one strategy of the source.
struct CarriedStrategy {
  std::string source;
  std::vector<std::string> targets;  // that the new kernel realises in its place; empty: it was not carried over
  std::string why;                   // the evidence in the source, or why it was left behind
};

// The two kernels' outputs on the same inputs.
struct Agreement {
  bool compared = false;
  std::string why_not;
  bool bitwise = false;
  bool within_tolerance = false;
  double largest_difference = 0, largest_value = 0;
  int sets = 0;  // of inputs
};

struct Migration {
  ProblemDescription problem;
  std::string from, to;
  VerdictRecord source_verdict;
  std::vector<CarriedStrategy> strategies;
  Kernel kernel;          // empty source where none could be written
  VerdictRecord verdict;  // of the new kernel; its command names `file`
  std::string file;       // where whoever asked writes the new kernel; beside what was asked for, where it did not pass
  Agreement agreement;
  [[nodiscard]] bool passed() const {
    return verdict.verdict == Verdict::passed && (!agreement.compared || agreement.within_tolerance);
  }
};

Result<Migration> migrate(const MigrationRequest& request, const std::function<void(const std::string&)>& progress,
                          const std::atomic<bool>& stop);

void to_json(Json& json, const Migration& migration);

}  // namespace kw
