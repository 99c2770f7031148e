// Writes kernels of the playbooks for tests: each line of standard input is {"problem": a description, "dsl", "strategies",
// "precision"}, each line of standard output the kernel's record with the problem's features, or {"error"}. A line {"source",
// "ptx", "claims"} is answered with what becomes of the claims: {id: presence}.
#include <iostream>
#include <string>

#include "base/json.h"
#include "playbook/gpu_playbook.h"
#include "playbook/opencl_playbook.h"
#include "playbook/playbook.h"
#include "strategy/alignment.h"
#include "strategy/code_lines.h"

namespace {

kw::Json aligned(const kw::Json& order) {
  const auto pool = kw::StrategyPool::load_own();
  if (!pool) return {{"error", pool.error().message}};
  kw::CodeView view;
  view.target = "gpu";
  view.source = order.at("source");
  view.ptx_lines = kw::ptx_code_lines(order.at("ptx").get<std::string>());
  kw::Json answer = kw::Json::object();
  for (const auto& each : kw::align(*pool, view, order.at("claims").get<std::vector<std::string>>(), {}))
    answer[each.id] = kw::Json(each).at("presence");
  return answer;
}

template <typename Book>
kw::Json written(const kw::Result<Book>& playbook, const kw::Json& order) {
  if (!playbook) return {{"error", playbook.error().message}};
  const auto kernel = playbook->write(order.at("strategies").get<std::vector<std::string>>());
  if (!kernel) return {{"error", kernel.error().message}};
  kw::Json json = *kernel;
  json["features"] = playbook->features();
  return json;
}

kw::Json answer(const kw::Json& order) {
  if (order.contains("ptx")) return aligned(order);
  const auto problem = order.at("problem").get<kw::ProblemDescription>();
  const std::string dsl = order.value("dsl", std::string("cuda-c"));
  if (dsl == "cpp") return written(kw::Playbook::read(problem, {2}), order);
  if (dsl == "opencl") return written(kw::OpenClPlaybook::read(problem, {2}), order);
  kw::GpuFacts gpu;
  gpu.precision = order.value("precision", gpu.precision);
  gpu.compute_capability = order.value("compute_capability", gpu.compute_capability);
  gpu.sms = order.value("sms", gpu.sms);
  return written(kw::GpuPlaybook::read(problem, gpu, dsl), order);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(kw::Json::parse(line)).dump() << std::endl;
}
