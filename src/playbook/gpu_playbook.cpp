#include "playbook/gpu_playbook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/features.h"
#include "playbook/gpu_text.h"
#include "playbook/py_stage.h"
#include "playbook/read.h"
#include "playbook/user_names.h"
#include "playbook/writing_limit.h"

namespace kw {

struct GpuPlaybook::State {
  ProblemDescription problem;
  GpuFacts gpu;
  std::string dsl;
  Graph graph;
  std::vector<ValueId> outputs;
  Features features;
};

Result<GpuPlaybook> GpuPlaybook::read(const ProblemDescription& problem, const GpuFacts& gpu, std::string_view dsl) {
  static const std::set<std::string_view> known{"cuda-c", "cute", "triton", "tilelang"};
  if (!known.contains(dsl))
    return bad_input(fmt::format("the playbook writes no {} for GPUs", dsl), fmt::format("one of {}", fmt::join(known, ", ")));
  return WritingLimit::within([&]() -> Result<GpuPlaybook> {
    auto state = std::make_shared<State>();
    state->problem = with_marked_names(problem);
    KW_TRY(ReadProblem read, read_graph_without_recurrences(state->problem));
    state->gpu = gpu;
    state->dsl = dsl;
    state->outputs = apart(read.graph, read.outputs);
    state->graph = std::move(read.graph);
    state->features = gpu_features_of(state->problem, state->graph, state->outputs, gpu);
    GpuPlaybook playbook;
    playbook.state_ = std::move(state);
    return playbook;
  });
}

const Features& GpuPlaybook::features() const { return state_->features; }

Result<Kernel> GpuPlaybook::write(const std::vector<std::string>& strategies) const {
  const std::set<std::string> wanted(strategies.begin(), strategies.end());
  const bool triton = state_->dsl == "triton";
  return WritingLimit::within([&]() -> Result<Kernel> {
    if (triton || state_->dsl == "tilelang")
      return write_python_kernel(state_->problem, state_->graph, state_->outputs, state_->gpu, wanted,
                                 triton ? PyDialect::triton : PyDialect::tilelang);
    return GpuText(state_->problem, state_->graph, state_->outputs, state_->gpu, state_->dsl == "cute").write(wanted);
  });
}

}  // namespace kw
