#include "playbook/playbook.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/features.h"
#include "playbook/kernel_text.h"
#include "playbook/reach.h"
#include "playbook/read.h"

namespace kw {

struct Playbook::State {
  ProblemDescription problem;
  MachineFacts machine;
  Graph graph;
  std::vector<ValueId> outputs;
  Features features;
};

Result<Playbook> Playbook::read(const ProblemDescription& problem, const MachineFacts& machine) {
  KW_TRY(ReadProblem read, read_graph(problem));
  auto state = std::make_shared<State>();
  state->problem = problem;
  state->machine = machine;
  state->graph = std::move(read.graph);
  // Two outputs never are one value: the second is a copy.
  std::set<ValueId> taken;
  for (ValueId output : read.outputs) {
    if (!taken.insert(behind_reshapes(state->graph, output)).second) {
      Value copy;
      copy.kind = ValueKind::pointwise;
      copy.dtype = state->graph.dtype(output);
      copy.shape = state->graph.shape(output);
      copy.operands = {output};
      copy.fn = "cast";
      copy.name = fmt::format("copy{}", state->outputs.size());
      output = state->graph.add(std::move(copy));
    }
    state->outputs.push_back(output);
  }
  state->features = features_of(state->problem, state->graph, state->outputs, machine);
  Playbook playbook;
  playbook.state_ = std::move(state);
  return playbook;
}

const Features& Playbook::features() const { return state_->features; }

Result<Kernel> Playbook::write(const std::vector<std::string>& strategies) const {
  return KernelText(state_->problem, state_->graph, state_->outputs, state_->machine).write({strategies.begin(), strategies.end()});
}

}  // namespace kw
