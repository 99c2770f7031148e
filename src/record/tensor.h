// What is known of one tensor (or scalar argument) of a problem, without its data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

enum class DType { f32, f64, f16, bf16, i8, i16, i32, i64, u8, boolean };

std::string_view torch_name(DType dtype);  // "float32", "bool", ...
Result<DType> dtype_from_torch_name(std::string_view name);
std::size_t size_of(DType dtype);
bool is_floating(DType dtype);
// The spacing of values at 1: 2^-23 for float32. 0 for integers.
double epsilon_of(DType dtype);

// What outputs are filled with before a call, so that an element that was never written shows: NaNs with a payload for the
// floating types, bytes of 0xA5 for the others. Eight bytes, the type's own pattern repeated.
std::uint64_t poison_word(DType dtype);

enum class TensorKind { input, scalar, parameter, buffer, attribute, output };

struct TensorSpec {
  std::string name;    // as PyTorch calls it: "x", "linear.weight", "out"
  std::string c_name;  // an identifier in every language of kernels, unique in the problem
  DType dtype = DType::f32;
  TensorKind kind = TensorKind::input;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements; a kernel sees an input's memory as it is
  std::int64_t span = 0;              // elements of memory from the first to one past the last
  double value = 0;                   // for a scalar: what get_inputs() gave

  [[nodiscard]] std::int64_t numel() const;
  [[nodiscard]] bool is_contiguous() const;
  [[nodiscard]] std::size_t span_bytes() const { return static_cast<std::size_t>(span) * size_of(dtype); }
};

void to_json(Json& json, const TensorSpec& spec);
void from_json(const Json& json, TensorSpec& spec);

}  // namespace kw
