#include "playbook/opencl_text.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/kernel_text.h"
#include "playbook/pieces.h"
#include "playbook/scratch.h"
#include "playbook/user_names.h"
#include "record/opencl_contract.h"

namespace kw {
namespace {

// Plans are shaped by what strategies for C++ are called.
std::set<std::string> plan_words_of(const std::set<std::string>& wanted) {
  std::set<std::string> words;
  for (const auto& [own, planned] : {std::pair{"fuse_kernels", "fuse_chain"}, std::pair{"fuse_row_kernel", "fuse_row_passes"},
                                     std::pair{"fuse_tile_epilogue", "fuse_epilogue"}})
    if (wanted.contains(own)) words.insert(planned);
  return words;
}

// Launches give parameters what is called as they are: where a tensor had to be called otherwise, the line lists the arguments.
std::string with_arguments(const NamedText& own) {
  static const std::regex launch(R"((// kw:(?:launch|prepare) (\w+))( [^\n]*\n__kernel void \w+\(([^)]*)\)))");
  std::string text;
  auto rest = own.text.cbegin();
  for (std::sregex_iterator it(own.text.begin(), own.text.end(), launch), end; it != end; ++it) {
    std::vector<std::string> given;
    bool changed = false;
    static const std::regex parameter(R"((\w+)\s*(?:,|$))");
    const std::string parameters = (*it)[4];
    for (std::sregex_iterator each(parameters.begin(), parameters.end(), parameter), last; each != last; ++each) {
      given.push_back((*each)[1]);
      for (const auto& [before, name] : own.changed)
        if (given.back() == name) given.back() = before, changed = true;
    }
    text.append(rest, (*it)[0].first);
    text += (*it)[1].str() + (changed ? fmt::format("({})", fmt::join(given, ", ")) : "") + (*it)[3].str();
    rest = (*it)[0].second;
  }
  return text.append(rest, own.text.cend());
}

}  // namespace

std::string in_opencl_c(std::string text) {
  struct Spelling {
    Spelling(const char* cuda, const char* opencl) : in_cuda(cuda), in_opencl(opencl) {}
    std::regex in_cuda;
    const char* in_opencl;
  };
  static const Spelling spellings[] = {
      {R"(\bstd::int64_t\b)", "long"},
      {R"(\bstd::int32_t\b)", "int"},
      {R"(\bstd::int16_t\b)", "short"},
      {R"(\bstd::int8_t\b)", "char"},
      {R"(\bstd::uint8_t\b)", "uchar"},
      {R"(\bstd::uint64_t\b)", "ulong"},
      {R"(\bINT64_)", "LONG_"},
      {R"(__builtin_nanf\(""\))", "NAN"},
      {R"(__builtin_nan\(""\))", "(double)NAN"},
      {R"(__builtin_inff\(\))", "INFINITY"},
      {R"(__builtin_inf\(\))", "(double)INFINITY"},
      {R"(\bkw_mask\{\})", "(kw_mask)(0)"},
      {R"(\b(float|double|bool|int|long|ulong|short|char|uchar)\()", "($1)("},
      {R"(\bblockIdx\.x\b)", "get_group_id(0)"},
      {R"(\bthreadIdx\.x\b)", "get_local_id(0)"},
      {R"(\bgridDim\.x\b)", "get_num_groups(0)"},
      {R"(__shared__)", "__local"},
      {R"(__syncthreads\(\))", "barrier(CLK_LOCAL_MEM_FENCE)"},
      {R"(\bconstexpr )", "const "},
      {R"(#pragma GCC unroll \w+)", "#pragma unroll"},
      {R"(\bkw_online_step\((\w+), (\w+), )", "kw_online_step(&$1, &$2, "},
  };
  for (const Spelling& each : spellings) text = std::regex_replace(text, each.in_cuda, each.in_opencl);
  return text;
}

bool GpuWriter::finish_in_opencl(GpuKernel& kernel, const std::string& body) {
  std::string text = in_opencl_c(body);
  std::vector<std::string> parameters;
  for (const auto* spec : problem.arguments()) {
    if (!says(text, spec->c_name)) continue;
    const std::string& name = spec->c_name;
    if (spec->kind == TensorKind::scalar)
      parameters.push_back(fmt::format("{} {}", spec->dtype == DType::boolean ? "int" : opencl_type(spec->dtype), name));
    else
      parameters.push_back(fmt::format("__global {}{}* restrict {}", spec->kind == TensorKind::output ? "" : "const ",
                                       opencl_type(spec->dtype), name));
  }
  for (const auto& memory : opencl_scratch_)
    if (says(text, memory.name))
      parameters.push_back(fmt::format("__global {}* restrict {}", in_opencl_c(memory.type), memory.name));
  static const std::regex lanes(R"(\bkw_(vec|mask|lanes|load|store|splat|gather)\b)");
  if (std::regex_search(text + kernel.grid, lanes)) kernel.knob("KW_LANES", 8, {4, 8, 16});
  kernels_ +=
      fmt::format("// kw:{} {} groups={} local={}\n__kernel void {}({}) {{\n{}}}\n\n", kernel.prepare ? "prepare" : "launch",
                  kernel.name, kernel.grid, kernel.threads, kernel.name, fmt::join(parameters, ", "), text);
  take_over(kernel);
  return true;
}

std::string OpenClText::opening(const GpuWriter& writer, const std::set<std::string>& claims) const {
  std::string text = fmt::format("// Computes {}.\n", operations_text(problem_));
  for (const auto& claim : claims) text += fmt::format("// strategy {}: {}\n", claim, opencl_strategy_words(claim));
  text += "#include \"problem.h\"\n\n";
  for (const auto& knob : writer.knobs_) {
    text += fmt::format("// kw:knob {} {}\n", knob.name, fmt::join(knob.values, " "));
    text += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", knob.name, knob.standard);
  }
  for (const auto& constraint : writer.constraints_) text += fmt::format("// kw:require {}\n", constraint);
  if (!writer.knobs_.empty()) text += "\n";
  for (const auto& memory : writer.opencl_scratch_)
    text += fmt::format("// kw:scratch {} {} {}\n", memory.name, in_opencl_c(memory.type), memory.count);
  return text + (writer.opencl_scratch_.empty() ? "" : "\n");
}

std::string OpenClText::tables(const GpuWriter& writer) const {
  std::string text;
  for (const ValueId id : writer.tables_) {
    const Value& value = graph_.at(id);
    std::vector<std::string> numbers;
    for (const double number : value.numbers) numbers.push_back(number_text(number, value.dtype));
    const std::string type(value.dtype == DType::boolean ? "uchar" : value_type(value.dtype));
    text += in_opencl_c(fmt::format("__constant {} kw_table_{}[] = {{{}}};\n", type, id, fmt::join(numbers, ", ")));
  }
  return text;
}

Kernel OpenClText::write(const std::set<std::string>& strategies) const {
  std::set<std::string> wanted;
  for (const auto& id : strategies)
    if (id.starts_with("cl_")) wanted.insert(id.substr(3));
  PlannedOutputs outputs;
  outputs.values = outputs_;
  for (const auto& spec : problem_.outputs) outputs.specs.push_back(&spec);
  Plan plan = make_plan(graph_, outputs, plan_words_of(wanted), device_.sms);
  const auto slots = place_scratch(plan, graph_, false, names_of_tensors(problem_));
  GpuWriter writer(problem_, graph_, plan, device_, wanted, GpuDialect::opencl);
  for (const auto& slot : slots)
    writer.opencl_scratch_.push_back({slot.name, std::string(opencl_type(slot.dtype)), fmt::format("{}", slot.count)});
  for (const auto& fused : plan.fused) {
    if (fused == "fuse_chain") writer.claims_.insert("fuse_kernels");
    if (fused == "fuse_row_passes") writer.claims_.insert("fuse_row_kernel");
  }
  for (const auto& stage : plan.stages) {
    if (numel(graph_.shape(stage.roots[0])) == 0) continue;
    for (const auto& family : gpu_families(GpuDialect::opencl))
      if (family.write(writer, stage)) break;
    writer.done(stage);
  }
  std::set<std::string> claims;
  for (const auto& claim : writer.claims_) claims.insert("cl_" + claim);
  const bool lanes = std::ranges::any_of(writer.knobs_, [](const Knob& knob) { return knob.name == "KW_LANES"; });
  Kernel kernel;
  kernel.dsl = "opencl";
  const NamedText own =
      with_final_names(tables(writer) + (writer.tables_.empty() ? "" : "\n") + writer.kernels_, problem_, TextLanguage::opencl);
  kernel.source = opening(writer, claims) + paste_opencl_pieces(writer.kernels_, lanes, writer.pieces_) + with_arguments(own);
  while (kernel.source.ends_with("\n\n")) kernel.source.pop_back();
  kernel.knobs = writer.knobs_;
  kernel.constraints = writer.constraints_;
  kernel.claims.assign(claims.begin(), claims.end());
  return kernel;
}

std::string_view opencl_strategy_words(const std::string& id) {
  static const std::map<std::string, std::string_view> words{
      {"cl_fuse_kernels", "pointwise operations where they are used"},
      {"cl_fuse_row_kernel", "all passes over a row in one kernel"},
      {"cl_fuse_tile_epilogue", "what follows the product while its tile is in registers"},
      {"cl_launch_shape", "the number of work-items of a group is a knob"},
      {"cl_vector_load", "OpenCL's vectors, loaded and stored whole"},
      {"cl_unroll_items", "several independent vectors a work-item"},
      {"cl_multiply_reciprocals", "one division a row, then multiplications"},
      {"cl_row_vectors", "a work-item for each row, vectors along it"},
      {"cl_column_vectors", "a work-item for the columns of a vector"},
      {"cl_row_accumulators", "several vectors of partial results"},
      {"cl_keep_row", "what is costly is computed once a row and kept"},
      {"cl_online_row", "maximum and sum of exponentials in one pass"},
      {"cl_transpose_tile", "tiles turn round in local memory"},
      {"cl_register_tile", "a tile of the product in vectors, the right operand in panels"},
      {"cl_prepack", "panels of weights are made once"},
  };
  const auto found = words.find(id);
  return found == words.end() ? "as its name says" : found->second;
}

}  // namespace kw
