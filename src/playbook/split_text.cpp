#include "playbook/split_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/pieces.h"
#include "playbook/user_names.h"
#include "record/contract.h"

namespace kw {
namespace {

std::string argument_list(const std::vector<const TensorSpec*>& specs) {
  std::vector<std::string> parts;
  for (const auto* spec : specs) parts.push_back(fmt::format("{} {}", argument_type(*spec), spec->c_name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool prepares(const std::vector<KernelFunction>& functions) {
  return std::ranges::any_of(functions, [](const KernelFunction& each) { return each.prepares; });
}

}  // namespace

SplitText::SplitText(const ProblemDescription& problem, const Split& split)
    : problem_(problem), split_(split), between_(place_values(split)) {
  for (const TensorSpec* spec : problem.arguments()) names_["tensor " + spec->name] = spec->c_name;
  // Names of the problem's tensors are the user's: what lives between places has a prefix of its own.
  for (std::size_t i = 0; i < between_.values.size(); ++i) names_["node " + between_.values[i].node] = fmt::format("kw_value{}", i);
  // An output of the problem that a later place reads is read where it was written.
  for (const Place& place : split.places)
    for (const Operand& output : place.outputs)
      if (!output.tensor.empty()) names_["node " + output.node] = names_.at("tensor " + output.tensor);
}

std::string SplitText::name_of(std::size_t part) { return fmt::format("part{}", part); }

std::string SplitText::opening(const std::vector<KernelFunction>& functions) const {
  std::string text = fmt::format("// Computes {}.\n", operations_text(problem_));
  text += fmt::format("// {} sub-problems, {} of them distinct: each of these is one function.\n", split_.places.size(),
                      split_.parts.size());
  std::set<std::string> claims;
  for (const KernelFunction& function : functions) claims.insert(function.claims.begin(), function.claims.end());
  for (const auto& claim : claims) text += fmt::format("// strategy {}: {}\n", claim, strategy_words(claim));
  return text + "#include \"problem.h\"\n\n";
}

std::string SplitText::memory_text() const {
  std::vector<std::string> sizes{"std::int64_t{64}"};
  for (std::size_t part = 0; part < split_.parts.size(); ++part) sizes.push_back(name_of(part) + "::work_bytes");
  std::string text = fmt::format(
      "namespace {{\n// What a part needs while it runs; they run one after the other.\n"
      "[[maybe_unused]] alignas(64) unsigned char kw_work[std::max({{{}}})];\n",
      fmt::join(sizes, ", "));
  if (between_.values.empty()) return text + "}  // namespace\n\n";
  text += fmt::format(
      "// Values from one part to a later one. Memory is used again where a value is no longer read.\n"
      "alignas(64) unsigned char kw_between[{}];\n",
      std::max<std::int64_t>(between_.bytes, 64));
  for (const PlacedValue& value : between_.values)
    text += fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(kw_between + {2});  // {3}\n", c_type(value.dtype),
                        names_.at("node " + value.node), value.offset, value.node);
  return text + "}  // namespace\n\n";
}

std::string SplitText::argument(const Operand& operand) const {
  const std::string& name = names_.at(operand.tensor.empty() ? "node " + operand.node : "tensor " + operand.tensor);
  return operand.offset == 0 ? name : fmt::format("{} + {}", name, operand.offset);
}

std::string SplitText::prepare_text(const std::vector<KernelFunction>& functions) const {
  if (!prepares(functions)) return "";
  std::vector<const TensorSpec*> specs;
  for (const auto& spec : problem_.parameters) specs.push_back(&spec);
  const bool by_struct = passes_struct(problem_);
  std::string text = "// Where the prepared weights of each place begin.\n";
  std::string offset = "0";
  for (std::size_t p = 0; p < split_.places.size(); ++p) {
    if (!functions[split_.places[p].part].prepares) continue;
    text += fmt::format("constexpr std::int64_t kw_prepared{} = {};\n", p, offset);
    offset = fmt::format("kw_prepared{} + {}::prepared_floats", p, name_of(split_.places[p].part));
  }
  text += fmt::format("constexpr std::int64_t kw_prepared_floats = {};\n\n", offset);
  text += fmt::format("extern \"C\" void* kw_prepare({}) {{\n", by_struct ? "const kw_weights* weights" : argument_list(specs));
  if (by_struct)
    for (const auto* spec : specs) text += fmt::format("  [[maybe_unused]] const auto {0} = weights->{0};\n", spec->c_name);
  text +=
      "  float* const memory = static_cast<float*>(::operator new(kw_prepared_floats * sizeof(float), std::align_val_t(64)));\n";
  for (std::size_t p = 0; p < split_.places.size(); ++p) {
    const Place& place = split_.places[p];
    if (!functions[place.part].prepares) continue;
    std::vector<std::string> arguments{fmt::format("memory + kw_prepared{}", p)};
    for (const Operand& operand : place.parameters) arguments.push_back(argument(operand));
    text += fmt::format("  {}::prepare({});\n", name_of(place.part), fmt::join(arguments, ", "));
  }
  text += "  return memory;\n}\n\n";
  return text + "extern \"C\" void kw_release(void* state) { ::operator delete(state, std::align_val_t(64)); }\n\n";
}

std::string SplitText::kernel_text(const std::vector<KernelFunction>& functions) const {
  const auto arguments = problem_.arguments();
  const bool by_struct = passes_struct(problem_);
  const bool with_state = prepares(functions);
  std::string text = fmt::format("extern \"C\" void kw_kernel({}{}) {{\n", with_state ? "void* state, " : "",
                                 by_struct ? "const kw_args* args" : argument_list(arguments));
  if (by_struct)
    for (const auto* spec : arguments)
      text += fmt::format("  [[maybe_unused]] {} const {} = args->{};\n", argument_type(*spec), spec->c_name, spec->c_name);
  if (with_state) text += "  const float* const prepared = static_cast<const float*>(state);\n";
  for (std::size_t p = 0; p < split_.places.size(); ++p) {
    const Place& place = split_.places[p];
    std::vector<std::string> given;
    if (functions[place.part].prepares) given.push_back(fmt::format("prepared + kw_prepared{}", p));
    for (const auto* operands : {&place.inputs, &place.parameters, &place.outputs})
      for (const Operand& operand : *operands) given.push_back(argument(operand));
    text += fmt::format("  {}::run({});\n", name_of(place.part), fmt::join(given, ", "));
  }
  return text + "}\n";
}

Kernel SplitText::write(const std::vector<KernelFunction>& functions) const {
  Kernel kernel;
  std::set<std::string> claims, pieces, includes{"<algorithm>", "<cstdint>"};
  if (prepares(functions)) includes.insert("<new>");
  std::string parts;
  for (std::size_t part = 0; part < functions.size(); ++part) {
    const KernelFunction& function = functions[part];
    claims.insert(function.claims.begin(), function.claims.end());
    pieces.insert(function.pieces.begin(), function.pieces.end());
    includes.insert(function.includes.begin(), function.includes.end());
    const int places = split_.parts[part].places;
    parts += fmt::format("// {}{}\n{}", split_.parts[part].operations, places > 1 ? fmt::format(", at {} places", places) : "",
                         function.text);
  }
  std::string text = opening(functions);
  for (const auto& header : includes) text += fmt::format("#include {}\n", header);
  text += "\n" + paste_pieces(pieces) + "namespace {\nextern unsigned char kw_work[];\n}\n\n" + parts +
          with_final_names(memory_text() + prepare_text(functions) + kernel_text(functions), problem_, TextLanguage::cpp).text;
  kernel.source = std::move(text);
  kernel.claims.assign(claims.begin(), claims.end());
  return kernel;
}

}  // namespace kw
