// The class of a workload, told from its graph alone: what kind of work dominates, and what is fused around it.
#pragma once

#include <string>
#include <vector>

#include "record/problem.h"

namespace kw {

struct WorkloadClass {
  std::string main;                        // matmul, convolution, attention, scan, softmax, normalisation, pooling, loss, ...
  std::vector<std::string> also;           // the other classes in the graph, in order of appearance
  [[nodiscard]] std::string text() const;  // "matmul + pointwise"
};

// "unknown" where there is no graph.
WorkloadClass workload_class(const ProblemDescription& problem);

}  // namespace kw
