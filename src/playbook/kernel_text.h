// Puts the text of a kernel together: what it says of itself, knobs, pasted pieces, memory, functions, the kernel.
#pragma once

#include <string>
#include <vector>

#include "playbook/stage.h"
#include "record/problem.h"

namespace kw {

// What a strategy does, in a few words, for the comment at the top.
std::string_view strategy_words(const std::string& id);

std::string_view gpu_strategy_words(const std::string& id);
// "layer_norm, relu" of the problem's operations.
std::string operations_text(const ProblemDescription& problem);

class KernelText {
 public:
  KernelText(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
             const MachineFacts& machine)
      : problem_(problem), graph_(graph), outputs_(outputs), machine_(machine) {}

  [[nodiscard]] Kernel write(const std::set<std::string>& strategies) const;

 private:
  [[nodiscard]] std::set<std::string> reserved_names() const;
  [[nodiscard]] std::string prepare_text(const StageWriter& writer) const;
  [[nodiscard]] std::string kernel_function(const StageWriter& writer, const std::string& body) const;
  [[nodiscard]] std::string table_texts(const StageWriter& writer) const;
  [[nodiscard]] std::string opening(const StageWriter& writer) const;

  const ProblemDescription& problem_;
  const Graph& graph_;
  const std::vector<ValueId>& outputs_;
  const MachineFacts& machine_;
};

}  // namespace kw
