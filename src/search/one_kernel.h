// One kernel by a model: written from nothing, or a given one repaired, until it passes or the conductor gives up. Verified in
// full, never timed.
#pragma once

#include <atomic>
#include <optional>

#include "llm/model.h"
#include "search/evaluator.h"

namespace kw {

struct OneKernelRequest {
  std::string problem_file;
  std::optional<std::string> source;    // to repair; none: write one
  std::string dsl = "cpp";              // that it is written in; evaluator.gpu says for which GPU, if for one
  std::vector<std::string> strategies;  // ids to realise
  int attempts = 6;                     // at the most; 1: the first answer counts, and nothing is repaired
  std::uint64_t seed = 0;               // of the model's answers
  EvaluatorOptions evaluator;
  Model* model = nullptr;
};

struct OneKernelOutcome {
  ProblemDescription problem;
  std::vector<Individual> attempts;  // the first is the given kernel, where one was given
  std::int64_t passed = -1;          // index of the attempt that passed
  std::vector<Exchange> exchanges;
  std::string ending;  // why it ended
  std::string repeat;  // the command that judges the last one again
};

Result<OneKernelOutcome> one_kernel(const OneKernelRequest& request, const std::function<void(const std::string&)>& progress,
                                    const std::atomic<bool>& stop);

}  // namespace kw
