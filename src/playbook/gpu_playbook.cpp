#include "playbook/gpu_playbook.h"

#include <fmt/format.h>

#include "playbook/features.h"
#include "playbook/gpu_text.h"
#include "playbook/read.h"

namespace kw {

struct GpuPlaybook::State {
  ProblemDescription problem;
  GpuFacts gpu;
  bool cute = false;
  Graph graph;
  std::vector<ValueId> outputs;
  Features features;
};

Result<GpuPlaybook> GpuPlaybook::read(const ProblemDescription& problem, const GpuFacts& gpu, std::string_view dsl) {
  if (dsl != "cuda-c" && dsl != "cute")
    return bad_input(fmt::format("the playbook writes no {} for GPUs", dsl), "search with --dsl cuda-c or --dsl cute");
  KW_TRY(ReadProblem read, read_graph(problem));
  auto state = std::make_shared<State>();
  state->problem = problem;
  state->gpu = gpu;
  state->cute = dsl == "cute";
  state->outputs = apart(read.graph, read.outputs);
  state->graph = std::move(read.graph);
  state->features = gpu_features_of(state->problem, state->graph, state->outputs, gpu);
  GpuPlaybook playbook;
  playbook.state_ = std::move(state);
  return playbook;
}

const Features& GpuPlaybook::features() const { return state_->features; }

Result<Kernel> GpuPlaybook::write(const std::vector<std::string>& strategies) const {
  const std::set<std::string> wanted(strategies.begin(), strategies.end());
  return GpuText(state_->problem, state_->graph, state_->outputs, state_->gpu, state_->cute).write(wanted);
}

}  // namespace kw
