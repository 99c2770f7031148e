#include "playbook/kernel_text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/loops.h"
#include "playbook/pieces.h"
#include "playbook/scratch.h"
#include "playbook/user_names.h"

namespace kw {
namespace {

std::string parameters_text(const std::vector<const TensorSpec*>& specs) {
  std::vector<std::string> parts;
  for (const auto* spec : specs)
    parts.push_back(
        fmt::format("{}{} {}", argument_type(*spec), spec->kind == TensorKind::output ? " __restrict" : "", spec->c_name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What the text uses of the standard library and of OpenMP.
std::set<std::string> headers_for(const std::string& text) {
  std::set<std::string> headers;
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (has("INT64_M")) headers.insert("<cstdint>");
  if (has("omp_get")) headers.insert("<omp.h>");
  if (has("std::min") || has("std::max")) headers.insert("<algorithm>");
  return headers;
}

// Whether the text has the name, as a word of its own.
bool mentions(const std::string& text, const std::string& name) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || !in_word(text[at - 1])) && (at + name.size() == text.size() || !in_word(text[at + name.size()]))) return true;
  return false;
}

}  // namespace

std::string operations_text(const ProblemDescription& problem) {
  std::vector<std::string> names;
  for (const auto& node : problem.graph.at("nodes")) {
    if (node.at("kind") != "call") continue;
    std::string op = node.at("op").get<std::string>();
    if (op == "operator.getitem") continue;
    if (const auto dot = op.find('.'); dot != std::string::npos) op = op.substr(dot + 1);
    op = op.substr(0, op.find('.'));
    names.push_back(op);
  }
  constexpr std::size_t kMostNamed = 12;
  const bool more = names.size() > kMostNamed;
  if (more) names.resize(kMostNamed);
  return fmt::format("{}{}", fmt::join(names, ", "), more ? ", ..." : "");
}

std::set<std::string> KernelText::reserved_names() const {
  std::set<std::string> names{"prepared", "run", "prepare", "work_bytes", "args",       "state", "memory", "main", "j0",  "y0",
                              "y1",       "jn",  "yn",      "u",          "row_values", "exp",   "log",    "sqrt", "max", "min"};
  names.merge(names_of_tensors(problem_));
  for (int i = 0; i < 64; ++i) names.insert(fmt::format("scratch{}", i));
  return names;
}

std::string KernelText::opening(const StageWriter& writer) const {
  std::string text = fmt::format("// Computes {}.\n", operations_text(problem_));
  for (const auto& claim : writer.claims_) text += fmt::format("// strategy {}: {}\n", claim, strategy_words(claim));
  text += "#include \"problem.h\"\n\n";
  for (const auto& knob : writer.knobs_) {
    text += fmt::format("// kw:knob {} {}\n", knob.name, fmt::join(knob.values, " "));
    text += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", knob.name, knob.standard);
  }
  for (const auto& constraint : writer.constraints_) text += fmt::format("// kw:require {}\n", constraint);
  return text + (writer.knobs_.empty() ? "" : "\n");
}

std::string KernelText::table_texts(const StageWriter& writer) const {
  std::string text;
  for (const ValueId id : writer.emitter.tables()) {
    const Value& value = graph_.at(id);
    std::vector<std::string> numbers;
    for (const double number : value.numbers) numbers.push_back(number_text(number, value.dtype));
    text += fmt::format("static const {} kw_table_{}[] = {{{}}};\n", value_type(value.dtype), id, fmt::join(numbers, ", "));
  }
  return text;
}

std::string KernelText::prepared_places(const StageWriter& writer, const std::string& body) {
  std::string text = "// The prepared weights, one after the other, each at a multiple of 64 bytes.\n";
  std::string offset = "0";
  for (const auto& part : writer.prepared_) {
    if (!mentions(body, part.name)) continue;
    text += fmt::format("constexpr std::int64_t {}_offset = {};\n", part.name, offset);
    offset = fmt::format("({0}_offset + ({1}) + 15) / 16 * 16", part.name, part.count);
  }
  return text + fmt::format("constexpr std::int64_t prepared_floats = {};\n\n", offset);
}

// Fills all that is prepared; `memory` has room for what is kept.
std::string KernelText::preparing(const StageWriter& writer, const std::string& body) {
  std::string text, passing;
  for (const auto& part : writer.prepared_) {
    const bool kept = mentions(body, part.name);
    text += kept ? fmt::format("  float* const {0} = memory + {0}_offset;\n", part.name)
                 : fmt::format("  float* const {0} = new float[{1}];\n", part.name, part.count);
    text += fmt::format("  {{\n{}  }}\n", part.text);
    if (!kept) passing += fmt::format("  delete[] {};\n", part.name);
  }
  return text + passing;
}

std::string KernelText::prepare_text(const StageWriter& writer, const std::string& body) const {
  if (writer.prepared_.empty()) return "";
  const bool by_struct = passes_struct(problem_);
  std::vector<const TensorSpec*> specs;
  for (const auto& spec : problem_.parameters) specs.push_back(&spec);
  std::string text = prepared_places(writer, body);
  text += fmt::format("extern \"C\" void* kw_prepare({}) {{\n", by_struct ? "const kw_weights* weights" : parameters_text(specs));
  if (by_struct)
    for (const auto* spec : specs) text += fmt::format("  [[maybe_unused]] const auto {0} = weights->{0};\n", spec->c_name);
  text += "  float* const memory = static_cast<float*>(::operator new(prepared_floats * sizeof(float), std::align_val_t(64)));\n";
  text += preparing(writer, body) + "  return memory;\n}\n\n";
  text += "extern \"C\" void kw_release(void* state) { ::operator delete(state, std::align_val_t(64)); }\n\n";
  return text;
}

std::string KernelText::kernel_function(const StageWriter& writer, const std::string& body) const {
  const auto arguments = problem_.arguments();
  const bool by_struct = passes_struct(problem_);
  const bool with_state = !writer.prepared_.empty();
  std::string text =
      fmt::format("extern \"C\" void kw_kernel({}{}) {{\n", with_state ? (arguments.empty() ? "void* state" : "void* state, ") : "",
                  by_struct ? "const kw_args* args" : parameters_text(arguments));
  if (by_struct)
    for (const auto* spec : arguments)
      text += fmt::format("  [[maybe_unused]] {}{} const {} = args->{};\n", argument_type(*spec),
                          spec->kind == TensorKind::output ? " __restrict" : "", spec->c_name, spec->c_name);
  for (const auto& part : writer.prepared_)
    if (mentions(body, part.name))
      text += fmt::format("  const float* const {0} = static_cast<const float*>(state) + {0}_offset;\n", part.name);
  text += body;
  return text + "}\n";
}

PlannedOutputs KernelText::planned_outputs() const {
  PlannedOutputs outputs;
  outputs.values = outputs_;
  for (const auto& spec : problem_.outputs) outputs.specs.push_back(&spec);
  outputs.may_move = true;
  return outputs;
}

void KernelText::write_stages(StageWriter& writer) const {
  const Plan& plan = writer.plan;
  for (const auto& fused : plan.fused) writer.use(fused);
  for (const auto& done : algebra_.done) writer.use(done);
  for (const ValueId value : plan.prepared) writer.prepare_value(value);
  for (const auto& stage : plan.stages) {
    if (numel(graph_.shape(stage.roots[0])) == 0) continue;
    for (const auto& family : families()) {
      if (!family.why_not(writer, stage).empty()) continue;
      if (plan.stages.size() > 1) writer.comment(fmt::format("{}: {}", family.name, graph_.at(stage.roots.back()).origin));
      family.write(writer, stage);
      break;
    }
    for (const ValueId root : stage.roots) writer.emitter.materialise(root, plan.buffers.at(root));
  }
  if (writer.emitter.used().contains("stream_stores")) writer.emitter.line("kw_stream_fence();");
  claim_emitted(writer);
}

Kernel KernelText::write(const std::set<std::string>& strategies) const {
  Plan plan = make_plan(graph_, planned_outputs(), strategies, machine_.threads, algebra_.prepared);
  const auto scratch = place_scratch(plan, graph_, true);
  StageWriter writer(graph_, plan, machine_, strategies, reserved_names());
  write_stages(writer);

  const std::string body = writer.emitter.take_text();
  std::string declared;
  for (const auto& slot : scratch)
    declared += fmt::format("alignas(64) static {} {}[{}];\n", c_type(slot.dtype), slot.name, slot.count);
  for (const auto& text : writer.declarations_) declared += text + "\n";
  std::set<std::string> needed = writer.emitter.needed();
  std::string all = declared + body;
  for (const auto& part : writer.prepared_) all += part.text;
  needed.merge(pieces_in_text(all, needed, strategies.contains("vector_maths")));
  std::string includes;
  if (!writer.prepared_.empty()) includes += "#include <new>\n";
  for (const auto& header : headers_for(all)) includes += fmt::format("#include {}\n", header);

  Kernel kernel;
  const std::string own =
      table_texts(writer) + declared + (declared.empty() ? "" : "\n") + prepare_text(writer, body) + kernel_function(writer, body);
  kernel.source = opening(writer) + includes + (includes.empty() ? "" : "\n") + paste_pieces(needed) +
                  with_final_names(own, problem_, TextLanguage::cpp).text;
  kernel.knobs = writer.knobs_;
  kernel.constraints = writer.constraints_;
  kernel.claims.assign(writer.claims_.begin(), writer.claims_.end());
  return kernel;
}

KernelFunction KernelText::function(const std::string& name, const std::set<std::string>& strategies,
                                    const KnobValues& knobs) const {
  Plan plan = make_plan(graph_, planned_outputs(), strategies, machine_.threads, algebra_.prepared);
  const auto scratch = place_scratch(plan, graph_, true);
  StageWriter writer(graph_, plan, machine_, strategies, reserved_names());
  writer.share_scratch();
  for (const auto& slot : scratch) writer.named_scratch(slot.name, c_type(slot.dtype), fmt::format("{}", slot.count));
  write_stages(writer);

  KernelFunction function;
  const std::string body = writer.emitter.take_text();
  std::string declared;
  for (const auto& text : writer.declarations_) {
    if (text.starts_with("#include "))
      function.includes.insert(text.substr(9));
    else
      declared += text + "\n";
  }
  std::string all = declared + body;
  for (const auto& part : writer.prepared_) all += part.text;
  function.claims = writer.claims_;
  function.pieces = writer.emitter.needed();
  function.pieces.merge(pieces_in_text(all, function.pieces, strategies.contains("vector_maths")));
  function.includes.merge(headers_for(all));
  function.prepares = !writer.prepared_.empty();

  std::string macros, undone;
  for (const auto& knob : writer.knobs_) {
    const auto value = knobs.find(knob.name);
    macros += fmt::format("#define {} {}\n", knob.name, value == knobs.end() ? fmt::format("{}", knob.standard) : value->second);
    undone += fmt::format("#undef {}\n", knob.name);
  }
  std::vector<const TensorSpec*> parameters;
  for (const auto& spec : problem_.parameters) parameters.push_back(&spec);
  std::string text = fmt::format("namespace {} {{\n{}{}{}", name, macros, table_texts(writer), declared);
  text += fmt::format("constexpr std::int64_t work_bytes = {};\n", writer.work_end_);
  if (function.prepares) {
    text += prepared_places(writer, body);
    text += fmt::format("static void prepare(float* const memory, {}) {{\n", parameters_text(parameters));
    text += preparing(writer, body) + "}\n\n";
  }
  text += fmt::format("[[gnu::noinline]] static void run({}{}) {{\n", function.prepares ? "const float* const prepared, " : "",
                      parameters_text(problem_.arguments()));
  for (const auto& part : writer.prepared_)
    if (mentions(body, part.name)) text += fmt::format("  const float* const {0} = prepared + {0}_offset;\n", part.name);
  function.text = fmt::format("{}{}}}\n{}}}  // namespace {}\n\n", text, body, undone, name);
  return function;
}

}  // namespace kw
