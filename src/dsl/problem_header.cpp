#include "dsl/problem_header.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

std::string parameter_list(const std::vector<const TensorSpec*>& specs) {
  std::vector<std::string> parts;
  for (const auto* spec : specs) parts.push_back(argument_type(*spec) + " " + spec->c_name);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string struct_of(const std::string& name, const std::vector<const TensorSpec*>& specs) {
  std::string text = fmt::format("struct {} {{\n", name);
  for (const auto* spec : specs) text += fmt::format("  {} {};\n", argument_type(*spec), spec->c_name);
  return text + "};\n";
}

std::string constants_of(const TensorSpec& spec) {
  if (spec.kind == TensorKind::scalar) return "";
  const auto numbers = [](const std::vector<std::int64_t>& values) {
    return values.empty() ? std::string("1") : fmt::format("{}", fmt::join(values, ", "));
  };
  const std::size_t rank = std::max<std::size_t>(spec.shape.size(), 1);
  std::string text =
      fmt::format("// {} '{}': {}[{}]{}\n", spec.kind == TensorKind::output ? "output" : "read-only", spec.name,
                  torch_name(spec.dtype), fmt::join(spec.shape, ", "), spec.is_contiguous() ? "" : ", not contiguous");
  text += fmt::format("[[maybe_unused]] constexpr std::int64_t {}_shape[{}] = {{{}}};\n", spec.c_name, rank, numbers(spec.shape));
  text +=
      fmt::format("[[maybe_unused]] constexpr std::int64_t {}_strides[{}] = {{{}}};\n", spec.c_name, rank, numbers(spec.strides));
  text += fmt::format("[[maybe_unused]] constexpr std::int64_t {}_numel = {};\n", spec.c_name, spec.numel());
  return text;
}

// Device code sees scalar constants, not elements of arrays.
std::string dimensions_of(const TensorSpec& spec) {
  std::string text;
  for (std::size_t i = 0; spec.kind != TensorKind::scalar && i < spec.shape.size(); ++i)
    text += fmt::format("[[maybe_unused]] constexpr std::int64_t {0}_dim{1} = {2}, {0}_stride{1} = {3};\n", spec.c_name, i,
                        spec.shape[i], spec.strides[i]);
  return text;
}

std::vector<const TensorSpec*> parameters_of(const ProblemDescription& problem) {
  std::vector<const TensorSpec*> all;
  for (const auto& spec : problem.parameters) all.push_back(&spec);
  return all;
}

// How the runner's untyped slots become the kernel's typed arguments.
std::string unpack(const std::vector<const TensorSpec*>& specs, std::size_t first_slot) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string slot = fmt::format("slots[{}]", first_slot + i);
    parts.push_back(specs[i]->kind == TensorKind::scalar ? fmt::format("*static_cast<const {}*>({})", c_type(specs[i]->dtype), slot)
                                                         : fmt::format("static_cast<{}>({})", argument_type(*specs[i]), slot));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

constexpr std::string_view kTypes = R"(#pragma once
// Generated for one problem: do not edit. Shapes are static; other shapes are another kernel.
#include <cstddef>
#include <cstdint>

#if defined(__FLT16_MAX__)
using kw_f16 = _Float16;
#endif
struct kw_bf16 {
  std::uint16_t bits;
};
inline float kw_to_float(kw_bf16 value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}
inline kw_bf16 kw_bf16_from_float(float value) {  // rounds to nearest, ties to even
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<std::uint16_t>(bits >> 16)};
}
#if defined(__FLT16_MAX__)
inline float kw_to_float(kw_f16 value) { return static_cast<float>(value); }
inline kw_f16 kw_f16_from_float(float value) { return static_cast<kw_f16>(value); }
#endif
#define KW_EXPORT __attribute__((visibility("default")))

)";

constexpr std::string_view kCudaTypes = R"(#pragma once
// Generated for one problem: do not edit. Shapes are static; other shapes are another kernel.
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
#define KW_EXPORT __attribute__((visibility("default")))

)";

std::string cuda_types(const std::vector<const TensorSpec*>& arguments) {
  const auto has = [&](DType dtype) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const TensorSpec* spec) { return spec->dtype == dtype; });
  };
  std::string text(kCudaTypes);
  if (has(DType::f16)) text += "#include <cuda_fp16.h>\nusing kw_f16 = __half;\n";
  if (has(DType::bf16)) text += "#include <cuda_bf16.h>\nusing kw_bf16 = __nv_bfloat16;\n";
  return text;
}

}  // namespace

std::string kernel_declaration(const ProblemDescription& problem, bool with_state, EntryPoint entry) {
  const std::string state = with_state ? "void* state, " : "";
  return fmt::format("extern \"C\" void kw_kernel({}{}{})", state,
                     passes_struct(problem) ? "const kw_args* args" : parameter_list(problem.arguments()),
                     entry == EntryPoint::cuda ? ", cudaStream_t stream" : "");
}

std::string problem_header(const ProblemDescription& problem, EntryPoint entry) {
  const bool by_struct = passes_struct(problem);
  const bool on_gpu = entry == EntryPoint::cuda;
  const auto arguments = problem.arguments();
  const auto parameters = parameters_of(problem);
  std::string text = on_gpu ? cuda_types(arguments) : std::string(kTypes);
  for (const auto* spec : arguments) text += constants_of(*spec) + (on_gpu ? dimensions_of(*spec) : "");
  text += "\n";
  if (by_struct) {
    text += struct_of("kw_args", arguments);
    text += struct_of("kw_weights", parameters);
  }
  const std::string prepare_list = by_struct ? "const kw_weights* weights" : parameter_list(parameters);
  const auto exported = [](std::string declaration) { return declaration.insert(declaration.find("void"), "KW_EXPORT ") + ";\n"; };
  text += "\n#if defined(KW_HAS_PREPARE)\n";
  text += fmt::format("extern \"C\" KW_EXPORT void* kw_prepare({});\n", prepare_list);
  text += "extern \"C\" KW_EXPORT void kw_release(void* state);\n";
  text += exported(kernel_declaration(problem, true, entry));
  text += "#else\n";
  text += exported(kernel_declaration(problem, false, entry));
  text += "#endif\n";

  // The runner holds untyped pointers; these two, in the kernel's own object, give them their types.
  text += "\n#if defined(KW_RUNNER_ENTRY)\n";
  const std::string packed = by_struct ? fmt::format("const kw_args args{{{}}};\n  ", unpack(arguments, 0)) : "";
  const std::string passed = (by_struct ? "&args" : unpack(arguments, 0)) + (on_gpu ? ", cudaStream_t{}" : "");
  text += "#if defined(KW_HAS_PREPARE)\n";
  const std::string packed_weights =
      by_struct ? fmt::format("const kw_weights weights{{{}}};\n  ", unpack(parameters, problem.inputs.size())) : "";
  text += fmt::format(
      "extern \"C\" KW_EXPORT __attribute__((used)) inline void* kw_call_prepare([[maybe_unused]] void* const* slots) {{\n  "
      "{}return kw_prepare({});\n}}\n",
      packed_weights, by_struct ? "&weights" : unpack(parameters, problem.inputs.size()));
  text += fmt::format(
      "extern \"C\" KW_EXPORT __attribute__((used)) inline void kw_call(void* state, void* const* slots) {{\n  {}kw_kernel(state, "
      "{});\n}}\n",
      packed, passed);
  text += "#else\n";
  text += fmt::format(
      "extern \"C\" KW_EXPORT __attribute__((used)) inline void kw_call(void*, void* const* slots) {{\n  {}kw_kernel({});\n}}\n",
      packed, passed);
  text += "#endif\n#endif\n";
  return text;
}

}  // namespace kw
