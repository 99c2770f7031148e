// Judges kernels of the OpenCL playbook, in one process with one oracle: each line of standard input is {"problem": a file,
// "strategies": [...]}, each line of standard output {"verdict", "diagnosis", "claims", "presences", "source"}, or {"error"}.
#include <iostream>

#include "playbook/opencl_playbook.h"
#include "profile/disassembly.h"
#include "profile/loops.h"
#include "search/evaluator.h"
#include "search/trials.h"
#include "strategy/alignment.h"

namespace {

using namespace kw;

Result<Json> judged(Evaluator& evaluator, const StrategyPool& pool, const Json& order) {
  KW_TRY(const ProblemSource problem, evaluator.problem(order.at("problem").get<std::string>()));
  KW_TRY(const OpenClPlaybook playbook, OpenClPlaybook::read(problem.description, {evaluator.threads()}));
  KW_TRY(const Kernel kernel, playbook.write(order.at("strategies").get<std::vector<std::string>>()));
  KW_TRY(Candidate candidate, Trials::candidate_of(kernel, {}));
  KW_TRY(const VerdictRecord verdict, evaluator.verify_briefly(problem, candidate, 1));
  Json answer{{"verdict", name_of(verdict.verdict)},
              {"diagnosis", verdict.diagnosis},
              {"claims", kernel.claims},
              {"source", kernel.source},
              {"presences", Json::object()}};
  if (!candidate.kernel()) return answer;
  CodeView view;
  view.target = "opencl";
  view.source = kernel.source;
  view.has_assembly = true;
  for (const std::string& object : candidate.kernel()->opencl->code) {
    KW_TRY(const Disassembly code, disassemble(object));
    const CodeText text = code_text(code);
    view.isa = text.isa;
    view.assembly_lines.insert(view.assembly_lines.end(), text.assembly_lines.begin(), text.assembly_lines.end());
    view.hot_loop_lines.insert(view.hot_loop_lines.end(), text.hot_loop_lines.begin(), text.hot_loop_lines.end());
  }
  for (const auto& each : align(pool, view, kernel.claims, {})) answer["presences"][each.id] = Json(each).at("presence");
  return answer;
}

}  // namespace

int main() {
  EvaluatorOptions options;
  options.again = true;
  auto evaluator = Evaluator::open(options);
  auto pool = StrategyPool::load_own();
  if (!evaluator || !pool) return std::cerr << (evaluator ? pool.error().message : evaluator.error().message) << "\n", 3;
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = judged(**evaluator, *pool, Json::parse(line));
    std::cout << (answer ? *answer : Json{{"error", answer.error().message}}).dump() << std::endl;
  }
}
