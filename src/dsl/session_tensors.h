// Tensors of a problem into a session: the step between what the oracle wrote and what a kernel sees.
#pragma once

#include "dsl/session.h"
#include "problem/tensor_sets.h"

namespace kw {

// Copies a set's inputs and scalars (and weights) to where the kernel finds them. A tensor file that does not fit the
// problem is an error.
Status load_inputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int slot);
Status load_weights(Session& session, const ProblemDescription& problem, const TensorSet& set);

// How long one call may take before it counts as endless.
std::chrono::milliseconds call_deadline(const TensorSet& set, std::optional<double> chosen_seconds);

}  // namespace kw
