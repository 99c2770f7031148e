#include "export/binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"

namespace kw {
namespace {

std::string_view scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "c10::kFloat";
    case DType::f64:
      return "c10::kDouble";
    case DType::f16:
      return "c10::kHalf";
    case DType::bf16:
      return "c10::kBFloat16";
    case DType::i8:
      return "c10::kChar";
    case DType::i16:
      return "c10::kShort";
    case DType::i32:
      return "c10::kInt";
    case DType::i64:
      return "c10::kLong";
    case DType::u8:
      return "c10::kByte";
    case DType::boolean:
      return "c10::kBool";
  }
  return "";
}

std::string_view schema_type(const TensorSpec& spec) {
  if (spec.kind != TensorKind::scalar) return "Tensor";
  return spec.dtype == DType::boolean ? "bool" : spec.dtype == DType::i64 ? "int" : "float";
}

std::string_view role_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::input:
      return "input";
    case TensorKind::scalar:
      return "scalar";
    case TensorKind::output:
      return "output";
    default:
      return "weight";
  }
}

Json specs_json(const std::vector<TensorSpec>& specs) {
  Json all = Json::array();
  for (const TensorSpec& spec : specs)
    all.push_back({{"name", spec.name},
                   {"kind", role_of(spec.kind)},
                   {"dtype", torch_name(spec.dtype)},
                   {"shape", spec.shape},
                   {"strides", spec.strides}});
  return all;
}

}  // namespace

std::string operator_namespace(const ExportSubject& subject) {
  return fmt::format("kw_{}_{:.8}", subject.name, key_of(subject.problem.source_hash, subject.kernel_text));
}

std::string operator_schema(const ProblemDescription& problem) {
  std::vector<std::string> given;
  for (const auto* list : {&problem.inputs, &problem.parameters})
    for (const TensorSpec& spec : *list) given.push_back(fmt::format("{} {}", schema_type(spec), spec.c_name));
  const std::vector<std::string> returned(problem.outputs.size(), "Tensor");
  const std::string results = returned.size() == 1 ? "Tensor" : fmt::format("({})", fmt::join(returned, ", "));
  return fmt::format("forward({}) -> {}", fmt::join(given, ", "), results);
}

std::string binding_header(const ExportSubject& subject) {
  const ProblemDescription& problem = subject.problem;
  std::string rows;
  for (const TensorSpec* spec : problem.arguments())
    rows += fmt::format("      {{{}, Role::{}, {}, {{{}}}, {{{}}}}},\n", Json(spec->name).dump(), role_of(spec->kind),
                        scalar_type(spec->dtype), fmt::join(spec->shape, ", "), fmt::join(spec->strides, ", "));
  return fmt::format(
      "// Generated for one problem: what the operator takes and gives, in the order of the kernel's arguments.\n"
      "#pragma once\n\n#include <cstdint>\n#include <vector>\n\n#include <c10/core/ScalarType.h>\n\n"
      "#define KW_NAMESPACE {}\n\nnamespace contract {{\n\n"
      "inline constexpr char kSchema[] = {};\n"
      "inline constexpr std::size_t kInputs = {}, kWeights = {};\n"
      "inline constexpr bool kPrepares = {};\n\n"
      "enum class Role {{ input, scalar, weight, output }};\n"
      "struct Argument {{\n  const char* name;\n  Role role;\n  c10::ScalarType type;\n  std::vector<std::int64_t> sizes, "
      "strides;\n}};\n\n"
      "inline const std::vector<Argument>& arguments() {{\n  static const std::vector<Argument> all{{\n{}  }};\n  return "
      "all;\n}}\n\n"
      "}}  // namespace contract\n",
      operator_namespace(subject), Json(operator_schema(problem)).dump(), problem.inputs.size(), problem.parameters.size(),
      subject.prepares(), rows);
}

Json binding_json(const ExportSubject& subject) {
  Json json = subject.signature;
  json["inputs"] = specs_json(subject.problem.inputs);
  json["weights"] = specs_json(subject.problem.parameters);
  json["outputs"] = specs_json(subject.problem.outputs);
  json["prepares"] = subject.prepares();
  return json;
}

std::string binding_defines(const ExportSubject& subject) { return subject.prepares() ? "[\"-DKW_HAS_PREPARE\"]" : "[]"; }

}  // namespace kw
