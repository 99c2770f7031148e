#include "playbook/playbook.h"

#include <algorithm>

#include "playbook/algebra.h"
#include "playbook/features.h"
#include "playbook/kernel_text.h"
#include "playbook/read.h"
#include "playbook/split_text.h"
#include "playbook/user_names.h"
#include "playbook/writing_limit.h"

namespace kw {
namespace {

// A problem, or a part of one, as it was read.
struct Subject {
  Graph graph;
  std::vector<ValueId> outputs;
  Features features;  // of the graph as it is, and of what algebra makes of it

  [[nodiscard]] Algebra with(const std::set<std::string>& strategies) const { return with_algebra(graph, outputs, strategies); }
};

Result<Subject> read_subject(const ProblemDescription& problem, const MachineFacts& machine) {
  KW_TRY(ReadProblem read, read_graph(problem));
  Subject subject;
  subject.graph = std::move(read.graph);
  subject.outputs = apart(subject.graph, read.outputs);
  const Algebra algebra = subject.with({std::begin(kAlgebra), std::end(kAlgebra)});
  subject.features = features_of(problem, algebra.graph, algebra.outputs, machine);
  for (const auto& [name, number] : features_of(problem, subject.graph, subject.outputs, machine))
    if (subject.features[name] == 0) subject.features[name] = number;
  subject.features["foldable_scales"] = algebra.done.contains("fold_batch_norm") ? 1 : 0;
  subject.features["sums_of_linear"] = algebra.done.contains("sum_weights_first") ? 1 : 0;
  subject.features["pools_of_linear"] = algebra.done.contains("pool_into_convolution") ? 1 : 0;
  return subject;
}

}  // namespace

struct Playbook::State {
  ProblemDescription problem;
  MachineFacts machine;
  Subject whole;
  Split split;
  std::vector<Subject> parts;
};

Result<Playbook> Playbook::read(const ProblemDescription& problem, const MachineFacts& machine) {
  return WritingLimit::within([&] { return read_unlimited(problem, machine); });
}

Result<Playbook> Playbook::read_unlimited(const ProblemDescription& problem, const MachineFacts& machine) {
  auto state = std::make_shared<State>();
  state->problem = with_marked_names(problem);
  state->machine = machine;
  KW_TRY(state->whole, read_subject(state->problem, machine));
  state->split = split_problem(state->problem);
  for (const Part& part : state->split.parts) {
    KW_TRY(Subject subject, read_subject(part.problem, machine));
    state->parts.push_back(std::move(subject));
  }
  Playbook playbook;
  playbook.state_ = std::move(state);
  return playbook;
}

const Features& Playbook::features() const { return state_->whole.features; }
const Split& Playbook::split() const { return state_->split; }
const Features& Playbook::part_features(std::size_t part) const { return state_->parts[part].features; }

Result<Kernel> Playbook::write(const std::vector<std::string>& strategies) const {
  if (state_->split.places.empty())
    return WritingLimit::within([&]() -> Result<Kernel> {
      const std::set<std::string> wanted(strategies.begin(), strategies.end());
      return KernelText(state_->problem, state_->whole.with(wanted), state_->machine).write(wanted);
    });
  std::vector<PartChoice> choices;
  for (const Part& part : state_->split.parts) choices.push_back({part.hash, strategies, {}});
  return assemble(choices);
}

Result<Kernel> Playbook::assemble(const std::vector<PartChoice>& choices) const {
  return WritingLimit::within([&] { return assemble_unlimited(choices); });
}

Result<Kernel> Playbook::assemble_unlimited(const std::vector<PartChoice>& choices) const {
  const Split& split = state_->split;
  if (split.places.empty()) return internal_error("a problem that was not split has no parts to put together");
  // Functions are pasted once for the file: approximations or the library's, but not both.
  constexpr const char* kVectorMaths = "vector_maths";
  const bool vector_maths = std::ranges::any_of(choices, [&](const PartChoice& choice) {
    return std::ranges::find(choice.strategies, kVectorMaths) != choice.strategies.end();
  });
  std::vector<KernelFunction> functions;
  for (std::size_t part = 0; part < split.parts.size(); ++part) {
    const auto chosen = std::ranges::find(choices, split.parts[part].hash, &PartChoice::part);
    std::set<std::string> strategies;
    if (chosen != choices.end()) strategies.insert(chosen->strategies.begin(), chosen->strategies.end());
    if (vector_maths) strategies.insert(kVectorMaths);
    functions.push_back(
        KernelText(split.parts[part].problem, state_->parts[part].with(strategies), state_->machine)
            .function(SplitText::name_of(part), strategies, chosen == choices.end() ? KnobValues{} : chosen->knobs));
  }
  return SplitText(state_->problem, split).write(functions);
}

}  // namespace kw
