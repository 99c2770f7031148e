// The oracle's sample as C++ for the test of an export without PyTorch: the ranges that inputs are drawn from, and what must come
// out.
#pragma once

#include <string>

#include "record/problem.h"

namespace kw {

Result<std::string> sample_header(const ProblemDescription& problem, const Json& sample);

// The arguments of a call in that test; `misaligned_outputs` are eight bytes off.
enum class SampleRole { inputs, weights, outputs, misaligned_outputs };
std::string sample_arguments(const ProblemDescription& problem, SampleRole role);

}  // namespace kw
