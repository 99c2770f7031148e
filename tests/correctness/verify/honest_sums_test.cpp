// Honest float32 kernels in any order of summation are right; the same formulas at a lower precision are imprecise.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "planted.h"

namespace kw {
namespace {

using test::Planted;
using test::random_floats;
using Sum = std::function<float(const float* a, const float* b, std::size_t count)>;

// Eager's: several lanes within blocks, the blocks added up.
float blocked_sum(const float* a, const float* b, std::size_t count) {
  float total = 0;
  for (std::size_t begin = 0; begin < count; begin += 128) {
    float lanes[8] = {};
    for (std::size_t i = begin; i < std::min(count, begin + 128); ++i) lanes[i % 8] += a[i] * b[i];
    total += std::accumulate(lanes, lanes + 8, 0.0F);
  }
  return total;
}
float forward_sum(const float* a, const float* b, std::size_t count) {
  float total = 0;
  for (std::size_t i = 0; i < count; ++i) total += a[i] * b[i];
  return total;
}
float backward_sum(const float* a, const float* b, std::size_t count) {
  float total = 0;
  for (std::size_t i = count; i-- > 0;) total += a[i] * b[i];
  return total;
}
float fused_sum(const float* a, const float* b, std::size_t count) {
  float total = 0;
  for (std::size_t i = 0; i < count; ++i) total = std::fma(a[i], b[i], total);
  return total;
}
float lane_sum(const float* a, const float* b, std::size_t count) {
  float lanes[16] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i % 16] += a[i] * b[i];
  return std::accumulate(lanes, lanes + 16, 0.0F);
}
Sum rounded_products(int bits) {
  return [bits](const float* a, const float* b, std::size_t count) {
    float total = 0;
    for (std::size_t i = 0; i < count; ++i) total += test::rounded_to(a[i], bits) * test::rounded_to(b[i], bits);
    return total;
  };
}
const std::vector<Sum> kHonest{forward_sum, backward_sum, fused_sum, lane_sum};

// A product of matrices, M x K by (N x K) transposed.
struct Product {
  std::size_t m = 12, n = 300, k;
  std::vector<float> a, b;

  Product(unsigned seed, double mean, double deviation, std::size_t length = 1024) : k(length) {
    a = random_floats(m * k, seed, mean, deviation);
    b = random_floats(n * k, seed + 1, mean, deviation);
  }
  std::vector<float> with(const Sum& sum) const {
    std::vector<float> out;
    for (std::size_t i = 0; i < m * n; ++i) out.push_back(sum(&a[i / n * k], &b[i % n * k], k));
    return out;
  }
  Planted output() const {
    Planted output({static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)});
    for (std::size_t i = 0; i < m * n; ++i) {
      const float *left = &a[i / n * k], *right = &b[i % n * k];
      for (std::size_t j = 0; j < k; ++j) output.reference[i] += static_cast<double>(left[j]) * static_cast<double>(right[j]);
    }
    output.eager = with(blocked_sum);
    return output;
  }
};

TEST(HonestSums, ProductsInAnyOrderAreRight) {
  for (const auto& [mean, deviation] : {std::pair{0.0, 1.0}, {0.5, 0.3}, {0.0, 1e-4}, {2.0, 1e3}}) {
    const Product product(3, mean, deviation);
    auto output = product.output();
    for (std::size_t i = 0; i < kHonest.size(); ++i) {
      output.kernel = product.with(kHonest[i]);
      const auto outcome = output.compare();
      EXPECT_TRUE(outcome.right) << "sum " << i << " of mean " << mean << ": " << outcome.error.worst_of_tolerance;
    }
  }
}

TEST(HonestSums, LongRunningSumsAreRightToo) {
  for (const double mean : {0.0, 0.5}) {
    const Product product(9, mean, 1, 4096);
    auto output = product.output();
    output.kernel = product.with(forward_sum);
    const auto outcome = output.compare();
    EXPECT_TRUE(outcome.right) << "mean " << mean << ": " << outcome.error.worst_of_tolerance;
  }
}

TEST(HonestSums, LowPrecisionProductsAreImprecise) {
  for (const int bits : {test::kBf16Bits, test::kTf32Bits}) {
    for (const double mean : {0.0, 0.5}) {
      const Product product(5, mean, 1);
      auto output = product.output();
      output.kernel = product.with(rounded_products(bits));
      const auto outcome = output.compare();
      EXPECT_FALSE(outcome.right) << bits;
      EXPECT_EQ(output.verdict(), Verdict::imprecise) << bits;
      const auto diagnosis = output.diagnosis();
      EXPECT_EQ(diagnosis.pattern, "low_precision") << bits << ": " << diagnosis.summary;
    }
  }
}

TEST(HonestSums, AStatedPrecisionAllowsWhatItSays) {
  const Product product(7, 0, 1);
  auto output = product.output();
  output.kernel = product.with(rounded_products(test::kTf32Bits));
  output.stated = *stated_epsilon("tf32");
  EXPECT_TRUE(output.compare().right);
  for (auto& value : output.kernel) value *= 1.2F;
  EXPECT_FALSE(output.compare().right);
}

// A function of whole rows, computed in float with a given order and in double.
Planted rowwise(std::size_t rows, std::size_t columns, const std::vector<float>& x,
                const std::function<void(const float*, float*, bool eager)>& in_float,
                const std::function<void(const float*, double*)>& in_double) {
  Planted output({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
  output.eager.resize(output.size());
  output.kernel.resize(output.size());
  for (std::size_t i = 0; i < rows * columns; i += columns) {
    in_double(&x[i], &output.reference[i]);
    in_float(&x[i], &output.eager[i], true);
    in_float(&x[i], &output.kernel[i], false);
  }
  return output;
}

TEST(HonestSums, SoftmaxWithANaiveSumIsRight) {
  constexpr std::size_t kColumns = 1000;
  const std::vector<float> ones(kColumns, 1);
  for (const double deviation : {0.1, 1.0, 10.0}) {
    const auto x = random_floats(32 * kColumns, 11, 0, deviation);
    const auto output = rowwise(
        32, kColumns, x,
        [&](const float* row, float* out, bool eager) {
          const float largest = *std::max_element(row, row + kColumns);
          for (std::size_t i = 0; i < kColumns; ++i) out[i] = std::exp(row[i] - largest);
          const float sum = eager ? blocked_sum(out, ones.data(), kColumns) : forward_sum(out, ones.data(), kColumns);
          const float inverse = 1 / sum;
          for (std::size_t i = 0; i < kColumns; ++i) out[i] = eager ? out[i] / sum : out[i] * inverse;
        },
        [&](const float* row, double* out) {
          double sum = 0;
          for (std::size_t i = 0; i < kColumns; ++i) sum += out[i] = std::exp(static_cast<double>(row[i]));
          for (std::size_t i = 0; i < kColumns; ++i) out[i] /= sum;
        });
    const auto outcome = output.compare();
    EXPECT_TRUE(outcome.right) << deviation << ": " << outcome.error.worst_of_tolerance;
  }
}

TEST(HonestSums, LayerNormByWelfordIsRight) {
  constexpr std::size_t kColumns = 768;
  for (const double mean : {0.0, 3.0}) {
    const auto x = random_floats(40 * kColumns, 13, mean);
    const auto output = rowwise(
        40, kColumns, x,
        [&](const float* row, float* out, bool eager) {
          float average = 0, squares = 0;
          if (eager) {
            const std::vector<float> ones(kColumns, 1);
            average = blocked_sum(row, ones.data(), kColumns) / kColumns;
            for (std::size_t i = 0; i < kColumns; ++i) out[i] = row[i] - average;
            squares = blocked_sum(out, out, kColumns);
          } else {
            for (std::size_t i = 0; i < kColumns; ++i) {
              const float distance = row[i] - average;
              average += distance / static_cast<float>(i + 1);
              squares += distance * (row[i] - average);
            }
          }
          const float scale = 1 / std::sqrt(squares / kColumns + 1e-5F);
          for (std::size_t i = 0; i < kColumns; ++i) out[i] = (row[i] - average) * scale;
        },
        [&](const float* row, double* out) {
          double average = 0, squares = 0;
          for (std::size_t i = 0; i < kColumns; ++i) average += static_cast<double>(row[i]) / kColumns;
          for (std::size_t i = 0; i < kColumns; ++i) squares += std::pow(static_cast<double>(row[i]) - average, 2);
          for (std::size_t i = 0; i < kColumns; ++i)
            out[i] = (static_cast<double>(row[i]) - average) / std::sqrt(squares / kColumns + 1e-5);
        });
    const auto outcome = output.compare();
    EXPECT_TRUE(outcome.right) << mean << ": " << outcome.error.worst_of_tolerance;
  }
}

TEST(HonestSums, MeansOfRowsAreRight) {
  constexpr std::size_t kRows = 500, kColumns = 4096;
  const auto x = random_floats(kRows * kColumns, 17, 0.5, 0.3);
  const std::vector<float> ones(kColumns, 1);
  Planted output({kRows});
  for (std::size_t i = 0; i < kRows; ++i) {
    const float* row = &x[i * kColumns];
    output.reference[i] = std::accumulate(row, row + kColumns, 0.0) / kColumns;
    output.eager.push_back(blocked_sum(row, ones.data(), kColumns) / kColumns);
    output.kernel.push_back(lane_sum(row, ones.data(), kColumns) / kColumns);
  }
  EXPECT_TRUE(output.compare().right) << output.compare().error.worst_of_tolerance;
  // The mean of a sample of half of the elements is another number.
  for (std::size_t i = 0; i < kRows; ++i) output.kernel[i] = lane_sum(&x[i * kColumns], ones.data(), kColumns / 2) / (kColumns / 2);
  EXPECT_FALSE(output.compare().right);
}

}  // namespace
}  // namespace kw
