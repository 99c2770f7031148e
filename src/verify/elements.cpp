#include "verify/elements.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw {
namespace {

float float_from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

template <typename Stored, typename Convert>
void convert(const void* data, std::int64_t begin, std::int64_t count, double* to, Convert&& number_of) {
  const auto* from = static_cast<const Stored*>(data) + begin;
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(number_of(from[i]));
}

}  // namespace

void elements_as_doubles(const void* data, DType dtype, std::int64_t begin, std::int64_t count, double* to) {
  const auto same = [](auto value) { return value; };
  switch (dtype) {
    case DType::f32:
      return convert<float>(data, begin, count, to, same);
    case DType::f64:
      return convert<double>(data, begin, count, to, same);
    case DType::f16:
      return convert<std::uint16_t>(data, begin, count, to, float_from_f16);
    case DType::bf16:
      return convert<std::uint16_t>(data, begin, count, to, float_from_bf16);
    case DType::i8:
      return convert<std::int8_t>(data, begin, count, to, same);
    case DType::i16:
      return convert<std::int16_t>(data, begin, count, to, same);
    case DType::i32:
      return convert<std::int32_t>(data, begin, count, to, same);
    case DType::i64:
      return convert<std::int64_t>(data, begin, count, to, same);
    case DType::u8:
    case DType::boolean:
      return convert<std::uint8_t>(data, begin, count, to, same);
  }
}

double element_as_double(const void* data, DType dtype, std::int64_t index) {
  double value = 0;
  elements_as_doubles(data, dtype, index, 1, &value);
  return value;
}

std::int64_t element_as_integer(const void* data, DType dtype, std::int64_t index) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (dtype == DType::i64) return static_cast<const std::int64_t*>(data)[index];
  const double value = element_as_double(data, dtype, index);
  if (std::isnan(value)) return Limits::min();
  if (value >= 0x1p63) return Limits::max();
  if (value <= -0x1p63) return Limits::min();
  return static_cast<std::int64_t>(value);
}

bool is_poison(const void* data, DType dtype, std::int64_t index) {
  const auto size = size_of(dtype);
  const auto poison = poison_word(dtype);  // little-endian, as every machine that kernels run on
  return std::memcmp(static_cast<const std::byte*>(data) + static_cast<std::size_t>(index) * size, &poison, size) == 0;
}

}  // namespace kw
