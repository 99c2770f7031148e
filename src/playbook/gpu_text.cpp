#include "playbook/gpu_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/kernel_text.h"
#include "playbook/pieces.h"
#include "playbook/py_stage.h"
#include "playbook/scratch.h"
#include "playbook/user_names.h"

namespace kw {
// What plans are made of, by what strategies for GPUs are called.
std::set<std::string> gpu_plan_words(const std::set<std::string>& strategies, bool prologues) {
  static const std::map<std::string, std::string> words{{"fuse_kernels", "fuse_chain"},
                                                        {"fuse_row_kernel", "fuse_row_passes"},
                                                        {"fuse_tile_epilogue", "fuse_epilogue"},
                                                        {"fuse_tile_prologue", "fuse_prologue"}};
  std::set<std::string> result;
  for (const auto& [own, planned] : words)
    if (strategies.contains(own)) result.insert(planned);
  if (!prologues) result.erase("fuse_prologue");
  return result;
}

void claim_gpu_plan(const Plan& plan, std::set<std::string>& claims) {
  for (const auto& fused : plan.fused) {
    if (fused == "fuse_chain") claims.insert("fuse_kernels");
    if (fused == "fuse_row_passes") claims.insert("fuse_row_kernel");
  }
}

std::string GpuText::opening(const GpuWriter& writer) const {
  std::string text = fmt::format("// Computes {}.\n", operations_text(problem_));
  for (const auto& claim : writer.claims_) text += fmt::format("// strategy {}: {}\n", claim, gpu_strategy_words(claim));
  text += "#include \"problem.h\"\n\n#include <cstdint>\n\n#include <cuda_runtime.h>\n";
  text += cute_ ? "#include <cute/tensor.hpp>\n\nusing namespace cute;\n\n" : "\n";
  for (const auto& knob : writer.knobs_) {
    text += fmt::format("// kw:knob {} {}\n", knob.name, fmt::join(knob.values, " "));
    text += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", knob.name, knob.standard);
  }
  for (const auto& constraint : writer.constraints_) text += fmt::format("// kw:require {}\n", constraint);
  return text + (writer.knobs_.empty() ? "" : "\n");
}

std::string GpuText::tables(const GpuWriter& writer) const {
  std::string text;
  for (const ValueId id : writer.tables_) {
    const Value& value = graph_.at(id);
    std::vector<std::string> numbers;
    for (const double number : value.numbers) numbers.push_back(number_text(number, value.dtype));
    text += fmt::format("__device__ const {} kw_table_{}[] = {{{}}};\n", value_type(value.dtype), id, fmt::join(numbers, ", "));
  }
  return text;
}

std::string GpuText::entry(const GpuWriter& writer) const {
  const auto arguments = problem_.arguments();
  const bool by_struct = passes_struct(problem_);
  std::vector<std::string> parts;
  if (by_struct) parts.emplace_back("const kw_args* args");
  for (const auto* spec : arguments)
    if (!by_struct) parts.push_back(fmt::format("{} {}", argument_type(*spec), spec->c_name));
  parts.emplace_back("cudaStream_t stream");
  std::string text = fmt::format("extern \"C\" void kw_kernel({}) {{\n", fmt::join(parts, ", "));
  if (by_struct)
    for (const auto* spec : arguments) text += fmt::format("  [[maybe_unused]] const auto {0} = args->{0};\n", spec->c_name);
  return text + writer.launches_ + "}\n";
}

Kernel GpuText::write(const std::set<std::string>& strategies) const {
  PlannedOutputs outputs;
  outputs.halves = true;
  outputs.prologues = !cute_;
  outputs.values = outputs_;
  for (const auto& spec : problem_.outputs) outputs.specs.push_back(&spec);
  // Rows are worth a kernel of their own where there are enough for the machine: for a plan, a thread is a quarter of an SM.
  // Copies of CuTe move what is in memory as it is.
  Plan plan = make_plan(graph_, outputs, gpu_plan_words(strategies, !cute_), std::max(1, gpu_.sms / 4));
  const auto slots = place_scratch(plan, graph_);
  GpuWriter writer(problem_, graph_, plan, gpu_, strategies, cute_ ? GpuDialect::cute : GpuDialect::cuda_c);
  for (const auto& slot : slots)
    writer.declarations_.push_back(fmt::format("__device__ __align__(16) {} {}[{}];", c_type(slot.dtype), slot.name, slot.count));
  claim_gpu_plan(plan, writer.claims_);
  for (const auto& stage : plan.stages) {
    if (numel(graph_.shape(stage.roots[0])) == 0) continue;
    for (const auto& family : gpu_families(writer.dialect))
      if (family.write(writer, stage)) break;
    writer.done(stage);
  }
  for (const char* fn : {"exp", "log", "tanh"})
    if (strategies.contains("fast_maths") && writer.kernels_.find(fmt::format("kw_{}(", fn)) != std::string::npos) {
      writer.pieces_.insert(fmt::format("fast_{}", fn));
      writer.claims_.insert("fast_maths");
    }
  std::string declared;
  if (!writer.declarations_.empty()) declared = "// Memory between kernels, for as long as the program runs.\n";
  for (const auto& text : writer.declarations_) declared += text + "\n";
  Kernel kernel;
  kernel.dsl = cute_ ? "cute" : "cuda-c";
  const std::string own = tables(writer) + declared + (declared.empty() ? "" : "\n") + writer.kernels_ + entry(writer);
  kernel.source = opening(writer) + paste_gpu_pieces(declared + writer.kernels_, writer.pieces_) +
                  with_final_names(own, problem_, TextLanguage::cpp).text;
  kernel.knobs = writer.knobs_;
  kernel.constraints = writer.constraints_;
  kernel.claims.assign(writer.claims_.begin(), writer.claims_.end());
  return kernel;
}

}  // namespace kw
