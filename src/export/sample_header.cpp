#include "export/sample_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/contract.h"

namespace kw {
namespace {

// One letter for each type, as the test reads and writes them.
char letter_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 'f';
    case DType::f64:
      return 'd';
    case DType::f16:
      return 'h';
    case DType::bf16:
      return 'b';
    case DType::boolean:
      return '?';
    case DType::u8:
      return 'u';
    case DType::i8:
      return '1';
    case DType::i16:
      return '2';
    case DType::i32:
      return '4';
    case DType::i64:
      return '8';
  }
  return '8';
}

constexpr std::string_view kTypes =
    R"(// Generated with the export: what inputs and weights are drawn from, and elements of the float64 reference for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace expected {

struct Range {
  char type;
  std::size_t size;
  std::int64_t count;
  double low, high;
  bool whole;
};
struct Element {
  std::int64_t place;
  double value, tolerance;
};
struct Output {
  const char* name;
  char type;
  std::size_t bytes;
  std::vector<Element> elements;
};

)";

std::string range_row(const TensorSpec& spec, const Json& ranges) {
  const Json range = ranges.value(spec.name, Json::array({0.0, 0.0}));
  return fmt::format("    {{'{}', {}, {}, {}, {}, {}}},  // {}\n", letter_of(spec.dtype), size_of(spec.dtype), spec.span,
                     range.at(0).get<double>(), range.at(1).get<double>(), !is_floating(spec.dtype), spec.c_name);
}

std::string output_row(const TensorSpec& spec, const Json& elements) {
  std::string text = fmt::format("    {{\"{}\", '{}', {}, {{\n", spec.c_name, letter_of(spec.dtype), spec.span_bytes());
  for (std::size_t i = 0; i < elements.at("places").size(); ++i)
    text += fmt::format("        {{{}, {}, {:.3g}}},\n", elements.at("places")[i].get<std::int64_t>(),
                        elements.at("values")[i].get<double>(), elements.at("tolerance")[i].get<double>());
  return text + "    }},\n";
}

std::string pointer(const TensorSpec& spec, const std::string& memory, int off) {
  const bool is_half = spec.dtype == DType::f16 || spec.dtype == DType::bf16;
  const std::string type = is_half ? "std::uint16_t" : std::string(c_type(spec.dtype));
  return fmt::format("reinterpret_cast<{}*>({}.begin(){})", type, memory, off > 0 ? fmt::format(" + {}", off) : "");
}

}  // namespace

Result<std::string> sample_header(const ProblemDescription& problem, const Json& sample) {
  return read_fields("the oracle's sample", [&] {
    std::string text(kTypes);
    text += "inline const std::vector<Range> given{\n";
    for (const auto* list : {&problem.inputs, &problem.parameters})
      for (const TensorSpec& spec : *list) text += range_row(spec, sample.at("ranges"));
    text += "};\n\ninline const std::vector<Output> outputs{\n";
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) text += output_row(problem.outputs[i], sample.at("outputs").at(i));
    return text + "};\n\n}  // namespace expected\n";
  });
}

std::string sample_arguments(const ProblemDescription& problem, SampleRole role) {
  std::vector<std::string> parts;
  if (role == SampleRole::outputs || role == SampleRole::misaligned_outputs) {
    for (std::size_t i = 0; i < problem.outputs.size(); ++i)
      parts.push_back(pointer(problem.outputs[i], fmt::format("written[{}]", i), role == SampleRole::outputs ? 0 : 8));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  const bool weights = role == SampleRole::weights;
  const auto& specs = weights ? problem.parameters : problem.inputs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string memory = fmt::format("given[{}]", i + (weights ? problem.inputs.size() : 0));
    const bool is_number = specs[i].kind == TensorKind::scalar;
    parts.push_back(is_number ? fmt::format("static_cast<{}>({})", c_type(specs[i].dtype), specs[i].value)
                              : pointer(specs[i], memory, 0));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace kw
