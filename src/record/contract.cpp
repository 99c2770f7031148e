#include "record/contract.h"

#include <fmt/format.h>

namespace kw {

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::f16:
      return "kw_f16";
    case DType::bf16:
      return "kw_bf16";
    case DType::i8:
      return "std::int8_t";
    case DType::i16:
      return "std::int16_t";
    case DType::i32:
      return "std::int32_t";
    case DType::i64:
      return "std::int64_t";
    case DType::u8:
      return "std::uint8_t";
    case DType::boolean:
      return "bool";
  }
  return "void";
}

std::string argument_type(const TensorSpec& spec) {
  if (spec.kind == TensorKind::scalar) return std::string(c_type(spec.dtype));
  return fmt::format("{}{}*", spec.kind == TensorKind::output ? "" : "const ", c_type(spec.dtype));
}

bool passes_struct(const ProblemDescription& problem) { return problem.arguments().size() > kMaxPlainArguments; }

}  // namespace kw
