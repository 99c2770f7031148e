#include "playbook/py_stage.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/kernel_text.h"
#include "playbook/loops.h"
#include "playbook/pieces.h"
#include "playbook/reach.h"
#include "playbook/scratch.h"
#include "playbook/user_names.h"

namespace kw {
namespace {

std::string memory_type(DType dtype) { return std::string(torch_name(dtype)); }

}  // namespace

std::string PyKernel::knob(const std::string& knob_name, std::int64_t standard, const std::vector<std::int64_t>& values) {
  if (std::ranges::none_of(knobs, [&](const Knob& known) { return known.name == knob_name; })) {
    std::vector<std::int64_t> all = values;
    if (std::ranges::find(all, standard) == all.end()) all.push_back(standard);
    std::ranges::sort(all);
    knobs.push_back({knob_name, standard, all});
  }
  return knob_name;
}

PyWriter::PyWriter(const ProblemDescription& of_problem, const Graph& of_graph, const Plan& of_plan, const GpuFacts& of_gpu,
                   const std::set<std::string>& strategies, PyDialect of_dialect)
    : problem(of_problem), graph(of_graph), plan(of_plan), gpu(of_gpu), dialect(of_dialect), strategies_(strategies) {
  reserved_ = {"launch", "torch",  "triton", "tl",   "T",  "tilelang", "libdevice", "lambda", "in",     "is",
               "not",    "and",    "or",     "for",  "if", "else",     "while",     "def",    "return", "range",
               "from",   "import", "class",  "with", "as", "pass",     "float",     "int",    "main"};
  reserved_.merge(names_of_tensors(problem));
  for (const auto& [id, buffer] : plan.buffers) reserved_.insert(buffer.name);
}

PyKernel PyWriter::kernel(const std::string& hint) const {
  PyKernel made(graph, dialect, reserved_, dialect == PyDialect::triton ? 1 : 3);
  made.e.fast_maths = wants("fast_maths");
  for (const auto& [value, memory] : in_memory_) made.e.materialise(value, memory);
  made.name = hint;
  for (int number = 2; kernel_names_.contains(made.name) || reserved_.contains(made.name); ++number)
    made.name = fmt::format("{}{}", hint, number);
  return made;
}

void PyWriter::choose_warps(PyKernel& kernel, std::int64_t standard) const {
  kernel.warps = fmt::format("{}", standard);
  kernel.threads = fmt::format("{}", 32 * standard);
  if (!wants("launch_shape")) return;
  kernel.claim("launch_shape");
  kernel.warps = kernel.knob("KW_WARPS", standard, {1, 2, 4, 8});
  kernel.threads = "32 * KW_WARPS";
}

std::string PyWriter::triton_kernel(const PyKernel& kernel, const std::string& body, const std::vector<std::string>& names) {
  std::vector<std::string> parameters = names, passed = names;
  for (const auto& knob : kernel.knobs)
    if (says(body, knob.name)) {
      parameters.push_back(knob.name + ": tl.constexpr");
      passed.push_back(fmt::format("{0}={0}", knob.name));
    }
  passed.push_back("num_warps=" + kernel.warps);
  passed.push_back("num_stages=" + kernel.stages);
  launches_ += fmt::format("    {}[({},)]({})\n", kernel.name, fmt::join(kernel.grid, ", "), fmt::join(passed, ", "));
  return fmt::format("@triton.jit\ndef {}({}):\n{}", kernel.name, fmt::join(parameters, ", "), body);
}

std::string PyWriter::tilelang_kernel(const PyKernel& kernel, const std::string& body, const std::vector<std::string>& names) {
  std::vector<std::string> parameters, passed;
  for (const std::string& name : names) {
    std::string type, count, flat = fmt::format("{}.view(-1)", name);
    for (const auto* spec : problem.arguments())
      if (spec->c_name == name) {
        type = memory_type(spec->dtype);
        count = fmt::format("{}", std::max<std::int64_t>(1, spec->span));
        flat = spec->kind == TensorKind::scalar ? name : fmt::format("{}.as_strided(({},), (1,))", name, count);
        if (spec->kind == TensorKind::scalar) type = "float64", count = "";
      }
    for (const auto& memory : memories_)
      if (memory.name == name) type = memory_type(memory.dtype), count = memory.count, flat = name;
    parameters.push_back(count.empty() ? fmt::format("{}: T.{}", name, type)
                                       : fmt::format("{}: T.Tensor(({},), \"{}\")", name, count, type));
    passed.push_back(flat);
  }
  std::vector<std::string> axes{"bx", "by", "bz"};
  axes.resize(kernel.grid.size());
  launches_ += fmt::format("    {}()({})\n", kernel.name, fmt::join(passed, ", "));
  return fmt::format(
      "@tilelang.jit\ndef {0}():\n    @T.prim_func\n    def main({1}):\n        with T.Kernel({2}, threads={3}) as {4}:\n{5}\n    "
      "return main\n",
      kernel.name, fmt::join(parameters, ", "), fmt::join(kernel.grid, ", "), kernel.threads,
      axes.size() == 1 ? axes[0] : fmt::format("({})", fmt::join(axes, ", ")), body);
}

bool PyWriter::finish(PyKernel& kernel) {
  const std::string body = kernel.e.take_text();
  if (!kernel.e.trouble().empty()) {
    trouble_ = kernel.e.trouble();
    return false;
  }
  std::vector<std::string> names;
  for (const auto* spec : problem.arguments())
    if (says(body, spec->c_name)) names.push_back(spec->c_name);
  for (const auto& memory : memories_)
    if (says(body, memory.name)) names.push_back(memory.name);
  kernel_names_.insert(kernel.name);
  kernels_ += (dialect == PyDialect::triton ? triton_kernel(kernel, body, names) : tilelang_kernel(kernel, body, names)) + "\n\n";
  claims_.insert(kernel.claims.begin(), kernel.claims.end());
  if (kernel.e.used_fast_maths()) claims_.insert("fast_maths");
  helpers_.insert(kernel.helpers.begin(), kernel.helpers.end());
  for (const auto& knob : kernel.knobs)
    if (std::ranges::none_of(knobs_, [&](const Knob& known) { return known.name == knob.name; })) knobs_.push_back(knob);
  for (const auto& condition : kernel.constraints)
    if (std::ranges::find(constraints_, condition) == constraints_.end()) constraints_.push_back(condition);
  return true;
}

std::string PyWriter::scratch(const std::string& hint, DType dtype, const std::string& count) {
  std::string name = hint;
  for (int number = 2; reserved_.contains(name); ++number) name = fmt::format("{}{}", hint, number);
  reserved_.insert(name);
  memories_.push_back({name, dtype, count});
  return name;
}

void PyWriter::done(const Stage& stage) {
  for (const ValueId root : stage.roots) in_memory_[root] = plan.buffers.at(root);
}

std::string ceil_div(std::int64_t count, const std::string& each) { return fmt::format("({0} + {1} - 1) // ({1})", count, each); }

std::int64_t next_power_of_two(std::int64_t count) {
  std::int64_t power = 1;
  while (power < count) power *= 2;
  return power;
}

std::int64_t longest_row(const PyWriter& writer, const Stage& stage) {
  std::int64_t longest = 0;
  bool innermost = true;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      const Value& value = writer.graph.at(at.value);
      if (value.kind != ValueKind::reduce || at.within >= 0 || (at.value != root && stored(at.value))) return;
      const Shape& shape = writer.graph.shape(value.operands[0]);
      std::size_t last = shape.size() - 1;
      while (last > 0 && shape[last] == 1) --last;
      if (value.dims.back() < static_cast<int>(last)) innermost = false;
      longest = std::max(longest, product_of(shape, value.dims));
    });
  return innermost ? longest : 0;
}

void store_roots(PyWriter& writer, PyKernel& kernel, const Stage& stage, const Index& index) {
  for (const ValueId root : stage.roots) {
    const PyExpr value = kernel.e.emit(root, index);
    kernel.e.store(writer.buffer(root), index, value);
    if (root != stage.roots.back()) kernel.e.provide(root, index, value);  // read in place of being computed again
  }
}

void write_running(PyWriter& writer, PyKernel& kernel, ValueId root, ValueId anchor, const Affine& row) {
  PyEmitter& e = kernel.e;
  const Value& scan = writer.graph.at(anchor);
  const auto dim = static_cast<std::size_t>(scan.dims[0]);
  std::vector<int> free;
  for (int d = 0; d < static_cast<int>(scan.shape.size()); ++d)
    if (d != scan.dims[0]) free.push_back(d);
  const Shape rows = shape_of_dims(scan.shape, free);
  Index index = with_dims(Index(scan.shape.size()), free, e.unflatten(row, rows));
  const bool wide = (scan.fn == "sum" || scan.fn == "prod") && is_floating(scan.dtype);
  const DType type = wide ? DType::f64 : scan.dtype;
  const std::string acc = e.accumulator("running", type, e.identity(scan.fn, type), true);
  index[dim] = Affine::variable(e.open_loop("k", scan.shape[dim]));
  const PyExpr next = e.converted(e.emit(scan.operands[0], index), type);
  e.assign(acc, e.combine(scan.fn, {acc, type, true, e.depth()}, next).text);
  e.provide(anchor, index, e.converted({acc, type, true, e.depth()}, scan.dtype));
  e.store(writer.buffer(root), index, e.emit(root, index));
  e.close();
}

class PyText {
 public:
  static Result<Kernel> write(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                              const GpuFacts& gpu, const std::set<std::string>& strategies, PyDialect dialect) {
    PlannedOutputs planned;
    planned.halves = true;
    planned.values = outputs;
    for (const auto& spec : problem.outputs) planned.specs.push_back(&spec);
    Plan plan = make_plan(graph, planned, gpu_plan_words(strategies, true), std::max(1, gpu.sms / 4));
    const auto slots = place_scratch(plan, graph);
    PyWriter writer(problem, graph, plan, gpu, strategies, dialect);
    for (const auto& slot : slots) writer.memories_.push_back({slot.name, slot.dtype, fmt::format("{}", slot.count)});
    claim_gpu_plan(plan, writer.claims_);
    for (const auto& stage : plan.stages) {
      if (numel(graph.shape(stage.roots[0])) == 0) continue;
      bool written = false;
      for (const auto& family : py_families(dialect))
        if ((written = family.write(writer, stage))) break;
      if (!written)
        return bad_input(fmt::format("the playbook has no form in {} of this problem: {}",
                                     dialect == PyDialect::triton ? "Triton" : "TileLang", writer.trouble_),
                         "search with --dsl cuda-c");
      writer.done(stage);
    }
    Kernel kernel;
    kernel.dsl = dialect == PyDialect::triton ? "triton" : "tilelang";
    const TextLanguage language = dialect == PyDialect::triton ? TextLanguage::triton : TextLanguage::tilelang;
    kernel.source = opening(writer) + with_final_names(writer.kernels_ + entry(writer), problem, language).text;
    kernel.knobs = writer.knobs_;
    kernel.constraints = writer.constraints_;
    kernel.claims.assign(writer.claims_.begin(), writer.claims_.end());
    return kernel;
  }

 private:
  static std::string opening(const PyWriter& writer) {
    const bool triton = writer.dialect == PyDialect::triton;
    std::string text = fmt::format("# Computes {}.\n", operations_text(writer.problem));
    for (const auto& claim : writer.claims_) text += fmt::format("# strategy {}: {}\n", claim, gpu_strategy_words(claim));
    if (!writer.memories_.empty()) text += "import torch\n";
    text += triton ? "import triton\nimport triton.language as tl\n" : "import tilelang\nimport tilelang.language as T\n";
    if (writer.kernels_.find("libdevice.") != std::string::npos) text += "from triton.language.extra import libdevice\n";
    text += "\n";
    for (const auto& knob : writer.knobs_)
      text += fmt::format("# kw:knob {0} {1}\n{0} = {2}\n", knob.name, fmt::join(knob.values, " "), knob.standard);
    for (const auto& constraint : writer.constraints_) text += fmt::format("# kw:require {}\n", constraint);
    text += "\n\n";
    for (const auto& helper : writer.helpers_) text += python_helper(writer.dialect, helper) + "\n\n\n";
    return text;
  }

  static std::string entry(const PyWriter& writer) {
    std::vector<std::string> names;
    for (const auto* spec : writer.problem.arguments()) names.push_back(spec->c_name);
    std::string text = fmt::format("def launch({}):\n", fmt::join(names, ", "));
    for (const auto& memory : writer.memories_)
      text += fmt::format("    {} = torch.empty({}, dtype=torch.{})\n", memory.name, memory.count, torch_name(memory.dtype));
    return text + (writer.launches_.empty() ? "    pass\n" : writer.launches_);
  }
};

Result<Kernel> write_python_kernel(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                                   const GpuFacts& gpu, const std::set<std::string>& strategies, PyDialect dialect) {
  return PyText::write(problem, graph, outputs, gpu, strategies, dialect);
}

std::span<const PyFamily> py_families(PyDialect dialect) {
  static const PyFamily in_triton[] = {triton_product_family, triton_rows_family, triton_transpose_family, triton_flat_family};
  static const PyFamily in_tilelang[] = {tilelang_product_family, tilelang_rows_family, tilelang_flat_family};
  if (dialect == PyDialect::triton) return in_triton;
  return in_tilelang;
}

}  // namespace kw
