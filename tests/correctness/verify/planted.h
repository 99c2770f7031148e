// An output with its reference and eager's result, to plant errors in and compare.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "verify/compare.h"
#include "verify/elements.h"
#include "verify/pattern.h"

namespace kw::test {

struct Planted {
  std::vector<std::int64_t> shape;
  std::vector<double> reference;
  std::vector<float> eager;
  std::vector<float> kernel;
  double stated = 0;
  std::vector<int> dimensions{};  // what PyTorch calls those of the shape; empty: 0, 1, ...

  explicit Planted(std::vector<std::int64_t> dimensions) : shape(std::move(dimensions)) {
    std::size_t count = 1;
    for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
    reference.resize(count);
  }

  [[nodiscard]] CompareInput input() const {
    CompareInput input;
    input.kernel = kernel.data();
    input.reference = reference.data();
    input.eager = eager.data();
    input.shape = shape;
    input.dimensions = dimensions;
    input.rule = tolerance_rule(DType::f32, stated);
    return input;
  }
  [[nodiscard]] CompareOutcome compare() const { return compare_output(input()); }
  [[nodiscard]] Diagnosis diagnosis() const { return diagnose_output(input(), compare()); }
  [[nodiscard]] Verdict verdict() const { return verdict_of(compare(), diagnosis()); }

  [[nodiscard]] std::size_t size() const { return reference.size(); }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(shape.back()); }

  // All three alike.
  void fill(float value) {
    reference.assign(size(), value);
    eager.assign(size(), value);
    kernel.assign(size(), value);
  }
  void spoil(std::size_t i) { kernel[i] = kernel[i] * -1.7F + 0.37F * static_cast<float>(i % 13 + 1); }
  void leave_unwritten(std::size_t i) {
    const auto poison = poison_word(DType::f32);
    std::memcpy(&kernel[i], &poison, sizeof(float));
  }
};

inline std::vector<float> random_floats(std::size_t count, unsigned seed, double mean = 0, double deviation = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>(normal(generator));
  return values;
}

// Normal values; eager is a unit or two in the last place off, the kernel is the reference rounded.
inline Planted planted(std::vector<std::int64_t> shape, unsigned seed = 1, double mean = 0.3) {
  Planted output(std::move(shape));
  const auto values = random_floats(output.size(), seed, mean);
  const auto noise = random_floats(output.size(), seed + 1);
  for (std::size_t i = 0; i < output.size(); ++i) {
    output.reference[i] = static_cast<double>(values[i]) * (1 + 1e-9);
    output.eager.push_back(static_cast<float>(output.reference[i] * (1 + 0x1p-24 * static_cast<double>(noise[i]))));
    output.kernel.push_back(static_cast<float>(output.reference[i]));
  }
  return output;
}

// Rounds to a mantissa of `bits` bits, to nearest even.
inline float rounded_to(float value, int bits) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  const auto dropped = 23 - bits;
  word += (1U << (dropped - 1)) - 1 + (word >> dropped & 1);
  word &= ~((1U << dropped) - 1);
  std::memcpy(&value, &word, sizeof value);
  return value;
}
constexpr int kBf16Bits = 7;
constexpr int kTf32Bits = 10;  // and fp16, away from its ends

}  // namespace kw::test
