// Writes kernels of the GPU playbook for tests: each line of standard input is {"problem": a description, "dsl", "strategies",
// "precision"}, each line of standard output the kernel's record with the problem's features, or {"error"}.
#include <iostream>
#include <string>

#include "base/json.h"
#include "playbook/gpu_playbook.h"

namespace {

kw::Json answer(const kw::Json& order) {
  kw::GpuFacts gpu;
  gpu.precision = order.value("precision", gpu.precision);
  gpu.compute_capability = order.value("compute_capability", gpu.compute_capability);
  gpu.sms = order.value("sms", gpu.sms);
  const auto playbook =
      kw::GpuPlaybook::read(order.at("problem").get<kw::ProblemDescription>(), gpu, order.value("dsl", std::string("cuda-c")));
  if (!playbook) return {{"error", playbook.error().message}};
  const auto kernel = playbook->write(order.at("strategies").get<std::vector<std::string>>());
  if (!kernel) return {{"error", kernel.error().message}};
  kw::Json json = *kernel;
  json["features"] = playbook->features();
  return json;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(kw::Json::parse(line)).dump() << std::endl;
}
