// Puts the text of a CUDA-C or CuTe source together: what it says of itself, knobs, pasted pieces, memory, kernels, the entry
// point.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "playbook/gpu_stage.h"

namespace kw {

class GpuText {
 public:
  GpuText(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs, const GpuFacts& gpu,
          bool cute)
      : problem_(problem), graph_(graph), outputs_(outputs), gpu_(gpu), cute_(cute) {}

  [[nodiscard]] Kernel write(const std::set<std::string>& strategies) const;

 private:
  [[nodiscard]] std::string opening(const GpuWriter& writer) const;
  [[nodiscard]] std::string tables(const GpuWriter& writer) const;
  [[nodiscard]] std::string entry(const GpuWriter& writer) const;

  const ProblemDescription& problem_;
  const Graph& graph_;
  const std::vector<ValueId>& outputs_;
  const GpuFacts& gpu_;
  const bool cute_;
};

}  // namespace kw
