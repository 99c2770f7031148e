// Puts the text of a kernel together: what it says of itself, knobs, pasted pieces, memory, functions, the kernel.
#pragma once

#include <string>
#include <vector>

#include "playbook/algebra.h"
#include "playbook/stage.h"
#include "record/problem.h"

namespace kw {

// What a strategy does, in a few words, for the comment at the top.
std::string_view strategy_words(const std::string& id);

std::string_view gpu_strategy_words(const std::string& id);
// "layer_norm, relu" of the problem's operations.
std::string operations_text(const ProblemDescription& problem);

// A plan as a function that other text calls, in a namespace of its own: run(prepared, inputs..., parameters..., outputs...) and,
// where it prepares weights, prepare(memory, parameters...). Its memory is in kw_work; knobs have their values.
struct KernelFunction {
  std::string text;
  std::set<std::string> claims;
  std::set<std::string> pieces;    // of knowledge/playbook
  std::set<std::string> includes;  // "<new>"
  bool prepares = false;
};

class KernelText {
 public:
  KernelText(const ProblemDescription& problem, const Algebra& algebra, const MachineFacts& machine)
      : problem_(problem), algebra_(algebra), graph_(algebra.graph), outputs_(algebra.outputs), machine_(machine) {}

  [[nodiscard]] Kernel write(const std::set<std::string>& strategies) const;
  [[nodiscard]] KernelFunction function(const std::string& name, const std::set<std::string>& strategies,
                                        const KnobValues& knobs) const;

 private:
  [[nodiscard]] PlannedOutputs planned_outputs() const;
  void write_stages(StageWriter& writer) const;
  [[nodiscard]] std::set<std::string> reserved_names() const;
  // `body` is the kernel's: what it does not read is kept for as long as weights are prepared.
  [[nodiscard]] static std::string prepared_places(const StageWriter& writer, const std::string& body);
  [[nodiscard]] static std::string preparing(const StageWriter& writer, const std::string& body);
  [[nodiscard]] std::string prepare_text(const StageWriter& writer, const std::string& body) const;
  [[nodiscard]] std::string kernel_function(const StageWriter& writer, const std::string& body) const;
  [[nodiscard]] std::string table_texts(const StageWriter& writer) const;
  [[nodiscard]] std::string opening(const StageWriter& writer) const;

  const ProblemDescription& problem_;
  const Algebra& algebra_;
  const Graph& graph_;
  const std::vector<ValueId>& outputs_;
  const MachineFacts& machine_;
};

}  // namespace kw
