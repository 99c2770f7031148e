#include "playbook/opencl_playbook.h"

#include "playbook/features.h"
#include "playbook/opencl_text.h"
#include "playbook/read.h"
#include "playbook/user_names.h"
#include "playbook/writing_limit.h"

namespace kw {

struct OpenClPlaybook::State {
  ProblemDescription problem;
  GpuFacts device;
  Graph graph;
  std::vector<ValueId> outputs;
  Features features;
};

Result<OpenClPlaybook> OpenClPlaybook::read(const ProblemDescription& problem, const MachineFacts& machine) {
  return WritingLimit::within([&]() -> Result<OpenClPlaybook> {
    auto state = std::make_shared<State>();
    state->problem = with_marked_names(problem);
    KW_TRY(ReadProblem read, read_graph_without_recurrences(state->problem));
    // To the families of GPUs a CPU is one with a multiprocessor a core, on which one thread runs at a time.
    state->device.sms = machine.threads;
    state->device.max_threads_per_sm = 1;
    state->graph = std::move(read.graph);
    state->outputs = apart(state->graph, read.outputs);
    state->features = features_of(state->problem, state->graph, state->outputs, machine);
    OpenClPlaybook playbook;
    playbook.state_ = std::move(state);
    return playbook;
  });
}

const Features& OpenClPlaybook::features() const { return state_->features; }

Result<Kernel> OpenClPlaybook::write(const std::vector<std::string>& strategies) const {
  return WritingLimit::within([&]() -> Result<Kernel> {
    return OpenClText(state_->problem, state_->graph, state_->outputs, state_->device)
        .write({strategies.begin(), strategies.end()});
  });
}

}  // namespace kw
