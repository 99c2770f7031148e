// What a compiled kernel gives for one set of inputs, and how far two kernels are apart. Neither is compared with a reference.
#pragma once

#include "search/evaluator.h"

namespace kw {

using KernelOutputs = std::vector<std::vector<std::byte>>;  // in the problem's order

// The outputs, or how the kernel failed.
Result<Answered<KernelOutputs>> outputs_of(const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                                           const Evaluator& evaluator);

struct OutputDistance {
  bool bitwise = true;
  bool within_tolerance = true;  // of the contract, with the first kernel's outputs as the reference
  double largest_difference = 0, largest_value = 0;
};
Result<OutputDistance> distance_between(const KernelOutputs& first, const KernelOutputs& second, const ProblemDescription& problem,
                                        const TensorSet& set, const std::string& precision);

}  // namespace kw
