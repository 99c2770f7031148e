#include "verify/tolerance.h"

#include <algorithm>
#include <cfloat>

namespace kw {
namespace {

// float16 keeps its subnormals (hardware handles them at full speed), and its smallest normal number, 6e-5, is too large
// to forgive; the others' results below the smallest normal number may be flushed to zero.
double tiny_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 4 * DBL_MIN;
    case DType::f16:
      return 4 * 0x1p-24;
    default:
      return 4 * static_cast<double>(FLT_MIN);
  }
}

}  // namespace

ToleranceRule tolerance_rule(DType dtype, double stated_epsilon, double noise_scale) {
  ToleranceRule rule;
  if (!is_floating(dtype)) return rule;
  rule.epsilon = std::max(epsilon_of(dtype), stated_epsilon);
  rule.tiny = tiny_of(dtype);
  rule.noise_scale = noise_scale;
  return rule;
}

Result<double> stated_epsilon(std::string_view precision) {
  if (precision == "float32") return 0.0;
  if (precision == "tf32" || precision == "fp16") return 0x1p-10;
  if (precision == "bf16") return 0x1p-7;
  return bad_input("unknown precision '" + std::string(precision) + "'", "use float32, tf32, bf16 or fp16");
}

double noise_scale(DType output, DType eager) { return output == DType::f64 && eager != DType::f64 ? 0x1p-29 : 1; }

Neighbourhoods::Neighbourhoods(std::span<const std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const auto extent : shape) elements *= extent;
  if (elements == 0) return;
  row_ = shape.empty() ? 1 : shape.back();
  rows_ = elements / row_;
  const std::int64_t grouped = (kFew + row_ - 1) / row_;
  groups_ = std::max<std::int64_t>(1, rows_ / grouped);
  cuts_ = row_ > kMost ? (row_ + kMost - 1) / kMost : 1;
}

Neighbourhoods::Range Neighbourhoods::range(std::int64_t index) const {
  const std::int64_t group = index / cuts_;
  const std::int64_t cut = index % cuts_;
  const std::int64_t first = rows_ * group / groups_ * row_;
  const std::int64_t size = rows_ * (group + 1) / groups_ * row_ - first;
  return {first + size * cut / cuts_, first + size * (cut + 1) / cuts_};
}

void Moments::merge(const Moments& other) {
  if (other.count == 0) return;
  const double total = count + other.count;
  const double distance = other.mean - mean;
  squares += other.squares + distance * distance * (count * other.count / total);
  mean += distance * (other.count / total);
  count = total;
}

double Moments::standard_deviation() const {
  const double deviation = count < 2 ? std::numeric_limits<double>::infinity() : std::sqrt(squares / count);
  return std::isnan(deviation) ? std::numeric_limits<double>::infinity() : deviation;  // values near the type's end
}

}  // namespace kw
