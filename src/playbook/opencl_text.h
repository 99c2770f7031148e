// Puts the text of an OpenCL C file together: what it says of itself, knobs, pasted pieces, memory, kernels, each under its launch
// line.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "playbook/gpu_stage.h"

namespace kw {

class OpenClText {
 public:
  OpenClText(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs, const GpuFacts& device)
      : problem_(problem), graph_(graph), outputs_(outputs), device_(device) {}

  // Strategies for OpenCL are called as those for GPUs that the families know, with cl_ before.
  [[nodiscard]] Kernel write(const std::set<std::string>& strategies) const;

 private:
  [[nodiscard]] std::string opening(const GpuWriter& writer, const std::set<std::string>& claims) const;
  [[nodiscard]] std::string tables(const GpuWriter& writer) const;

  const ProblemDescription& problem_;
  const Graph& graph_;
  const std::vector<ValueId>& outputs_;
  const GpuFacts& device_;
};

// What emitters and families write, in OpenCL C: its types, casts, names of threads and of memory.
std::string in_opencl_c(std::string text);
// What a strategy does, in a few words, for the comment at the top.
std::string_view opencl_strategy_words(const std::string& id);

}  // namespace kw
