#include "playbook/playbook.h"

#include "playbook/features.h"
#include "playbook/kernel_text.h"
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
  state->outputs = apart(state->graph, read.outputs);
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
