#include "playbook/gpu_stage.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/pieces.h"
#include "playbook/reach.h"
#include "playbook/user_names.h"

namespace kw {
namespace {

// Positions fit an int where no tensor and no value has 2^31 elements.
std::string_view index_type_for(const Graph& graph) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Value& value = graph.at(id);
    std::int64_t span = numel(value.shape);
    for (std::size_t d = 0; d < value.strides.size(); ++d) span = std::max(span, value.shape[d] * std::abs(value.strides[d]));
    if (span > kMost && value.kind != ValueKind::view) return "std::int64_t";
  }
  return "int";
}

}  // namespace

std::string GpuKernel::knob(const std::string& knob_name, std::int64_t standard, const std::vector<std::int64_t>& values) {
  if (std::ranges::none_of(knobs, [&](const Knob& known) { return known.name == knob_name; }))
    knobs.push_back({knob_name, standard, values});
  return knob_name;
}

GpuWriter::GpuWriter(const ProblemDescription& of_problem, const Graph& of_graph, const Plan& of_plan, const GpuFacts& of_gpu,
                     const std::set<std::string>& strategies, GpuDialect written)
    : problem(of_problem),
      graph(of_graph),
      plan(of_plan),
      gpu(of_gpu),
      dialect(written),
      cute(written == GpuDialect::cute),
      strategies_(strategies) {
  reserved_ = {"args", "stream", "main", "y0", "y1", "j0", "jn", "yn", "exp", "log", "sqrt", "max", "min", "warpSize"};
  reserved_.merge(names_of_tensors(problem));
  for (const auto& [id, buffer] : plan.buffers) reserved_.insert(buffer.name);
}

GpuKernel GpuWriter::kernel(const std::string& hint) const {
  GpuKernel made(graph, reserved_);
  made.e.cuda = dialect != GpuDialect::opencl;
  made.e.plain_pointers = false;
  made.e.index_type = index_type_for(graph);
  made.e.reciprocals = wants("multiply_reciprocals");
  for (const auto& [value, buffer] : in_memory_) made.e.materialise(value, buffer);
  made.name = hint;
  for (int number = 2; says(kernels_, made.name) || reserved_.contains(made.name); ++number)
    made.name = fmt::format("{}{}", hint, number);
  return made;
}

std::string GpuWriter::block_threads(GpuKernel& kernel, std::int64_t standard, const std::vector<std::int64_t>& values) const {
  if (!wants("launch_shape")) return kernel.threads = fmt::format("{}", standard);
  kernel.claim("launch_shape");
  return kernel.threads = kernel.knob("KW_THREADS", standard, values);
}

void GpuWriter::bound_registers(GpuKernel& kernel) const {
  if (!wants("occupancy")) return;
  kernel.claim("occupancy");
  kernel.blocks_per_sm = kernel.knob("KW_BLOCKS_PER_SM", 2, {1, 2, 3, 4, 6});
}

bool GpuWriter::finish(GpuKernel& kernel) {
  const std::string body = kernel.e.take_text();
  if (!kernel.e.trouble().empty()) return false;
  if (dialect == GpuDialect::opencl) return finish_in_opencl(kernel, body);
  std::vector<std::string> parameters;
  std::vector<std::string> arguments;
  std::string tensors;
  for (const auto* spec : problem.arguments()) {
    if (!says(body, spec->c_name)) continue;
    arguments.push_back(spec->c_name);
    const bool scalar = spec->kind == TensorKind::scalar;
    parameters.push_back(fmt::format("{}{} {}{}", argument_type(*spec), scalar ? "" : " __restrict__", spec->c_name,
                                     cute && !scalar ? "_memory" : ""));
    if (cute && !scalar)
      tensors += fmt::format("  [[maybe_unused]] auto {0} = make_tensor(make_gmem_ptr({0}_memory), make_layout(Int<{1}>{{}}));\n",
                             spec->c_name, std::max<std::int64_t>(1, spec->span));
  }
  std::string declared;
  for (const auto& text : kernel.declarations) declared += text + "\n";
  const std::string bound = kernel.blocks_per_sm.empty() ? "" : ", " + kernel.blocks_per_sm;
  kernels_ += fmt::format("{}__global__ void __launch_bounds__({}{}) {}({}) {{\n{}{}}}\n\n", declared, kernel.threads, bound,
                          kernel.name, fmt::join(parameters, ", "), tensors, body);
  const std::string shared = kernel.shared_bytes.empty() ? "0" : kernel.shared_bytes;
  if (!kernel.shared_bytes.empty())
    launches_ += fmt::format(
        "  static const cudaError_t {0}_room = cudaFuncSetAttribute({0}, cudaFuncAttributeMaxDynamicSharedMemorySize, {1});\n"
        "  (void){0}_room;\n",
        kernel.name, shared);
  launches_ += fmt::format("  {}<<<{}, {}, {}, stream>>>({});\n", kernel.name, kernel.grid, kernel.threads, shared,
                           fmt::join(arguments, ", "));
  take_over(kernel);
  return true;
}

void GpuWriter::take_over(const GpuKernel& kernel) {
  claims_.insert(kernel.claims.begin(), kernel.claims.end());
  for (const auto& used : kernel.e.used())
    if (used == "reciprocal_multiply") claims_.insert("multiply_reciprocals");
  pieces_.insert(kernel.pieces.begin(), kernel.pieces.end());
  pieces_.insert(kernel.e.overloads().begin(), kernel.e.overloads().end());
  tables_.insert(kernel.e.tables().begin(), kernel.e.tables().end());
  for (const auto& knob : kernel.knobs)
    if (std::ranges::none_of(knobs_, [&](const Knob& known) { return known.name == knob.name; })) knobs_.push_back(knob);
  for (const auto& condition : kernel.constraints)
    if (std::ranges::find(constraints_, condition) == constraints_.end()) constraints_.push_back(condition);
}

std::string GpuWriter::iterator(const std::string& name) const {
  const auto arguments = problem.arguments();
  const bool argument = std::ranges::any_of(arguments, [&](const TensorSpec* spec) { return spec->c_name == name; });
  return argument ? name + ".data()" : fmt::format("make_gmem_ptr({})", name);
}

std::string GpuWriter::scratch(const std::string& hint, std::string_view type, const std::string& count) {
  std::string name = hint;
  for (int number = 2; reserved_.contains(name); ++number) name = fmt::format("{}{}", hint, number);
  reserved_.insert(name);
  if (dialect == GpuDialect::opencl)
    opencl_scratch_.push_back({name, std::string(type), count});
  else
    declarations_.push_back(fmt::format("__device__ __align__(16) {} {}[{}];", type, name, count));
  return name;
}

void GpuWriter::done(const Stage& stage) {
  for (const ValueId root : stage.roots) in_memory_[root] = plan.buffers.at(root);
}

std::string blocks_for(std::int64_t count, const std::string& each) { return fmt::format("({0} + {1} - 1) / ({1})", count, each); }

void store_roots(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const Index& index) {
  for (const ValueId root : stage.roots) {
    kernel.e.store(writer.buffer(root), index, kernel.e.emit(root, index));
    // What follows reads it in place of computing it again.
    if (root != stage.roots.back()) kernel.e.provide(root, index, kernel.e.emit(root, index));
  }
}

std::span<const GpuFamily> gpu_families(GpuDialect dialect) {
  static const GpuFamily in_cuda_c[] = {gpu_tensor_family,    gpu_product_family, gpu_split_family, gpu_rows_family,
                                        gpu_transpose_family, gpu_flat_family,    gpu_naive_family};
  static const GpuFamily in_cute[] = {cute_product_family,  gpu_split_family, cute_rows_family, gpu_rows_family,
                                      gpu_transpose_family, cute_flat_family, gpu_naive_family};
  static const GpuFamily in_opencl[] = {opencl_product_family, opencl_rows_family, gpu_transpose_family, gpu_flat_family,
                                        gpu_naive_family};
  if (dialect == GpuDialect::cute) return in_cute;
  if (dialect == GpuDialect::opencl) return in_opencl;
  return in_cuda_c;
}

}  // namespace kw
