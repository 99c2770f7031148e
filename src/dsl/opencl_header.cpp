#include "dsl/opencl_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

constexpr std::string_view kOpenClTypes = R"(#ifndef KW_PROBLEM_H
#define KW_PROBLEM_H
// Generated for one problem: do not edit. Shapes are static; other shapes are another kernel.
typedef struct {
  ushort bits;
} kw_f16;
typedef struct {
  ushort bits;
} kw_bf16;
static inline float __attribute__((overloadable)) kw_to_float(kw_f16 value) { return vload_half(0, (const __private half*)&value.bits); }
static inline float __attribute__((overloadable)) kw_to_float(kw_bf16 value) { return as_float((uint)value.bits << 16); }
static inline kw_f16 kw_f16_from_float(float value) {
  kw_f16 made;
  vstore_half_rte(value, 0, (__private half*)&made.bits);
  return made;
}
static inline kw_bf16 kw_bf16_from_float(float value) {  // rounds to nearest, ties to even
  uint bits = as_uint(value);
  kw_bf16 made;
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    made.bits = (ushort)((bits >> 16) | 0x40u);
  } else {
    bits += 0x7fffu + ((bits >> 16) & 1u);
    made.bits = (ushort)(bits >> 16);
  }
  return made;
}

)";

std::string parameter_text(const TensorSpec& spec) {
  if (spec.kind == TensorKind::scalar)
    return fmt::format("{} {}", spec.dtype == DType::boolean ? "int" : opencl_type(spec.dtype), spec.c_name);
  return fmt::format("__global {}{}* {}", spec.kind == TensorKind::output ? "" : "const ", opencl_type(spec.dtype), spec.c_name);
}

}  // namespace

std::map<std::string, std::int64_t> opencl_constants(const ProblemDescription& problem) {
  std::map<std::string, std::int64_t> constants;
  for (const auto* spec : problem.arguments()) {
    if (spec->kind == TensorKind::scalar) continue;
    const std::string& name = spec->c_name;
    constants[name + "_numel"] = spec->numel();
    for (std::size_t d = 0; d < spec->shape.size(); ++d) {
      constants[fmt::format("{}_dim{}", name, d)] = spec->shape[d];
      constants[fmt::format("{}_stride{}", name, d)] = spec->strides[d];
    }
  }
  return constants;
}

std::string opencl_header(const ProblemDescription& problem) {
  std::string text(kOpenClTypes);
  const auto constants = opencl_constants(problem);
  for (const auto* spec : problem.arguments()) {
    const std::string& name = spec->c_name;
    text += fmt::format("// {} '{}': {}[{}]{}, in a kernel: {}\n", spec->kind == TensorKind::output ? "output" : "read-only",
                        spec->name, torch_name(spec->dtype), fmt::join(spec->shape, ", "),
                        spec->is_contiguous() ? "" : ", not contiguous", parameter_text(*spec));
    for (const auto& [constant, value] : constants)
      if (constant.starts_with(name + "_numel") || constant.starts_with(name + "_dim") || constant.starts_with(name + "_stride"))
        text += fmt::format("#define {} {}{}\n", constant, value, value > 0x7fffffff ? "L" : "");
  }
  return text + "#endif\n";
}

std::string opencl_declaration(const ProblemDescription& problem) {
  std::vector<std::string> parts;
  for (const auto* spec : problem.arguments()) parts.push_back(parameter_text(*spec));
  const std::string out = problem.outputs.empty() ? "x" : problem.outputs.front().c_name;
  return fmt::format("// kw:launch kw_kernel groups=({}_numel + 63) / 64 local=64\n__kernel void kw_kernel({})", out,
                     fmt::join(parts, ", "));
}

}  // namespace kw
