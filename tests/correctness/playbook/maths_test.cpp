// The vector maths that kernels are written with, against libm in double precision: sweeps over the bit patterns of floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "../../../knowledge/playbook/maths_erf.h"
#include "../../../knowledge/playbook/maths_exp.h"
#include "../../../knowledge/playbook/maths_log.h"
#include "../../../knowledge/playbook/maths_pow.h"
#include "../../../knowledge/playbook/maths_trig.h"
#include "../../../knowledge/playbook/moments.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The spacing of floats at a value, denormals included.
double spacing_at(double value) {
  const int exponent = std::max(std::ilogb(std::max(std::abs(value), 1e-45)), -126);
  return std::ldexp(1.0, exponent - 23);
}

// How many units in the last place a result is off; a huge number where one is NaN or infinite and the other is not. Zero for what
// would be denormal is right.
double units_off(float got, double expected) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : 1e30;
  if (got == 0 && std::abs(expected) < std::ldexp(1.0, -126)) return 0;
  const auto rounded = static_cast<float>(expected);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    const double edge = std::ldexp(1.0, 128);
    return std::isinf(got) && !std::isinf(rounded)
               ? (std::signbit(got) == std::signbit(expected) ? (edge - std::abs(expected)) / spacing_at(expected) : 1e30)
               : (std::isinf(expected) ? 1e30 : 1.0);
  }
  return std::abs(got - expected) / spacing_at(expected);
}

struct Worst {
  double units = 0;
  float at = 0;
  float got = 0;
  double expected = 0;
  void note(float x, float y, double reference) {
    const double off = units_off(y, reference);
    if (off > units) *this = {off, x, y, reference};
  }
};

std::ostream& operator<<(std::ostream& out, const Worst& worst) {
  return out << worst.units << " units off at " << worst.at << ": " << worst.got << " instead of " << worst.expected;
}

// Every `stride`-th bit pattern from low to high (of one sign each), the neighbours of zero and one, and the special values.
std::vector<float> sweep(float low, float high, std::uint32_t stride) {
  std::vector<float> points;
  for (const float value : {0.0F, -0.0F, 1.0F, -1.0F, 1e-45F, -1e-45F, 1.17549435e-38F, kInfinity, -kInfinity, kNan}) {
    if ((value >= low && value <= high) || std::isnan(value)) points.push_back(value);
  }
  const auto walk = [&](float from, float to, float sign) {
    const auto last = std::bit_cast<std::uint32_t>(to);
    for (std::uint64_t bits = std::bit_cast<std::uint32_t>(from); bits <= last; bits += stride) {
      points.push_back(sign * std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
  };
  if (high > 0) walk(std::max(low, 0.0F), high, 1);
  if (low < 0) walk(std::max(-high, 0.0F), -low, -1);
  while (points.size() % kw_lanes != 0) points.push_back(points.back());
  return points;
}

template <class Vector, class Reference>
Worst worst_of(const std::vector<float>& points, Vector vector, Reference reference) {
  Worst worst;
  for (std::size_t i = 0; i < points.size(); i += kw_lanes) {
    const kw_vec y = vector(kw_load(&points[i]));
    for (int lane = 0; lane < kw_lanes; ++lane)
      worst.note(points[i + lane], y[lane], reference(static_cast<double>(points[i + lane])));
  }
  return worst;
}

constexpr std::uint32_t kStride = 16411;  // a prime: about 260 000 floats of all

#define KW_EXPECT_UNITS(name, low, high, bound, reference)                       \
  do {                                                                           \
    const Worst worst = worst_of(                                                \
        sweep(low, high, kStride), [](kw_vec x) { return name(x); }, reference); \
    EXPECT_LE(worst.units, bound) << worst;                                      \
  } while (false)

TEST(Maths, ExponentialsOfEveryFloat) {
  KW_EXPECT_UNITS(kw_exp, -kInfinity, kInfinity, 1.5, [](double x) { return std::exp(x); });
  KW_EXPECT_UNITS(kw_exp, -104.5F, 89.5F, 1.5, [](double x) { return std::exp(x); });
  KW_EXPECT_UNITS(kw_exp2, -kInfinity, kInfinity, 1.5, [](double x) { return std::exp2(x); });
  KW_EXPECT_UNITS(kw_expm1, -kInfinity, kInfinity, 2.0, [](double x) { return std::expm1(x); });
  KW_EXPECT_UNITS(kw_exp_normal, -87.0F, 88.0F, 1.5, [](double x) { return std::exp(x); });
  KW_EXPECT_UNITS(kw_exp_to_one, -kInfinity, 0.0F, 1.5, [](double x) { return std::exp(x); });
  KW_EXPECT_UNITS(kw_expm1_of_negatives, -kInfinity, 0.0F, 2.0, [](double x) { return std::expm1(x); });
  for (const std::uint32_t bits : {0x7fc00001U, 0xffc00fffU, 0x7f812345U, 0xffffffffU}) {  // every NaN is one
    EXPECT_TRUE(std::isnan(kw_exp_to_one(kw_splat(std::bit_cast<float>(bits)))[0])) << bits;
    EXPECT_TRUE(std::isnan(kw_expm1_of_negatives(kw_splat(std::bit_cast<float>(bits)))[0])) << bits;
  }
}

TEST(Maths, LogarithmsOfEveryFloat) {
  KW_EXPECT_UNITS(kw_log, -kInfinity, kInfinity, 1.5, [](double x) { return std::log(x); });
  KW_EXPECT_UNITS(kw_log, 0.5F, 2.0F, 1.5, [](double x) { return std::log(x); });
  KW_EXPECT_UNITS(kw_log2, -kInfinity, kInfinity, 2.0, [](double x) { return std::log2(x); });
  KW_EXPECT_UNITS(kw_log1p, -kInfinity, kInfinity, 2.0, [](double x) { return std::log1p(x); });
  KW_EXPECT_UNITS(kw_softplus, -kInfinity, kInfinity, 2.5,
                  [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
}

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

TEST(Maths, SquashingFunctionsOfEveryFloat) {
  KW_EXPECT_UNITS(kw_tanh, -kInfinity, kInfinity, 3.0, [](double x) { return std::tanh(x); });
  KW_EXPECT_UNITS(kw_sigmoid, -kInfinity, kInfinity, 2.5, sigmoid);
  KW_EXPECT_UNITS(kw_erf, -kInfinity, kInfinity, 1.5, [](double x) { return std::erf(x); });
  KW_EXPECT_UNITS(kw_erfc, -kInfinity, kInfinity, 8.0, [](double x) { return std::erfc(x); });
}

// How far a function is from its reference at most, in units of the smallest normal float: what counts where results are next to
// nothing.
template <class Vector, class Reference>
double tail_error(float low, float high, Vector vector, Reference reference) {
  double worst = 0;
  for (const float x : sweep(low, high, kStride))
    if (std::isfinite(x)) worst = std::max(worst, std::abs(vector(kw_splat(x))[0] - reference(static_cast<double>(x))));
  return std::ldexp(worst, 126);
}

// In the far tails a denormal factor, 0 in its place or the square in an exponent costs digits; PyTorch's own error is as large
// there.
TEST(Maths, Activations) {
  const auto silu = [](double x) { return x * sigmoid(x); };
  KW_EXPECT_UNITS(kw_silu, -87.0F, kInfinity, 3.0, silu);
  EXPECT_LE(tail_error(
                -1e30F, -87.0F, [](kw_vec x) { return kw_silu(x); }, silu),
            100);
  const auto mish = [](double x) { return x * std::tanh(x > 40 ? x : std::log1p(std::exp(x))); };
  KW_EXPECT_UNITS(kw_mish, -87.0F, kInfinity, 4.0, mish);
  EXPECT_LE(tail_error(
                -1e30F, -87.0F, [](kw_vec x) { return kw_mish(x); }, mish),
            100);
  const auto gelu_tanh = [](double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); };
  KW_EXPECT_UNITS(kw_gelu_tanh, -3.0F, kInfinity, 12.0, gelu_tanh);
  KW_EXPECT_UNITS(kw_gelu_tanh, -10.0F, -3.0F, 200.0, gelu_tanh);
  EXPECT_LE(tail_error(
                -1e12F, -10.0F, [](kw_vec x) { return kw_gelu_tanh(x); }, gelu_tanh),
            100);
  const auto gelu = [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); };
  KW_EXPECT_UNITS(kw_gelu, -1.0F, kInfinity, 3.0, gelu);
  KW_EXPECT_UNITS(kw_gelu, -5.5F, -1.0F, 40.0, gelu);
  for (const float x : sweep(-1e30F, -5.5F, kStride)) {
    if (std::isnan(x)) continue;
    const float got = kw_gelu(kw_splat(x))[0];
    ASSERT_TRUE(got <= 0 && got > 1.01 * gelu(x) - 1e-18) << x << ": " << got << " instead of " << gelu(x);
  }
}

TEST(Maths, SinesFarFromZero) {
  KW_EXPECT_UNITS(kw_sin, -8192.0F, 8192.0F, 2.0, [](double x) { return std::sin(x); });
  KW_EXPECT_UNITS(kw_cos, -8192.0F, 8192.0F, 2.0, [](double x) { return std::cos(x); });
  KW_EXPECT_UNITS(kw_sin, 1.0F, 8192.0F, 2.0, [](double x) { return std::sin(x); });
  KW_EXPECT_UNITS(kw_sin, 8192.0F, kInfinity, 1.0, [](double x) { return std::sin(x); });
  KW_EXPECT_UNITS(kw_cos, 8192.0F, kInfinity, 1.0, [](double x) { return std::cos(x); });
}

TEST(Maths, RootsAndRounding) {
  KW_EXPECT_UNITS(kw_sqrt, -kInfinity, kInfinity, 0.5, [](double x) { return std::sqrt(x); });
  KW_EXPECT_UNITS(kw_rsqrt, 1e-45F, kInfinity, 1.5, [](double x) { return 1 / std::sqrt(x); });
  KW_EXPECT_UNITS(kw_floor, -kInfinity, kInfinity, 0.0, [](double x) { return std::floor(x); });
  KW_EXPECT_UNITS(kw_ceil, -kInfinity, kInfinity, 0.0, [](double x) { return std::ceil(x); });
  KW_EXPECT_UNITS(kw_trunc, -kInfinity, kInfinity, 0.0, [](double x) { return std::trunc(x); });
  KW_EXPECT_UNITS(kw_round, -kInfinity, kInfinity, 0.0, [](double x) { return std::nearbyint(x); });
  KW_EXPECT_UNITS(kw_abs, -kInfinity, kInfinity, 0.0, [](double x) { return std::abs(x); });
  KW_EXPECT_UNITS(kw_relu, -kInfinity, kInfinity, 0.0, [](double x) { return x < 0 ? 0 : x; });
  for (const float half : {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 8388607.5F})
    EXPECT_EQ(kw_round(kw_splat(half))[0], std::nearbyint(half));
  EXPECT_EQ(kw_sign(kw_splat(-3.0F))[0], -1);
  EXPECT_EQ(kw_sign(kw_splat(1e-45F))[0], 1);
  EXPECT_EQ(kw_sign(kw_splat(kNan))[0], 0);
}

TEST(Maths, PowersOfRandomAndSpecialNumbers) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponents(-30, 30), wide(-1, 1);
  std::vector<float> xs, ys;
  const std::vector<float> special = {0.0F,  -0.0F,  1.0F,    -1.0F, 2.0F,   -2.0F,       3.0F,      0.5F,       -0.5F,
                                      -3.0F, 1e-40F, -1e-40F, 1e30F, -1e30F, 16777217.0F, kInfinity, -kInfinity, kNan};
  for (const float x : special) {
    for (const float y : special) xs.push_back(x), ys.push_back(y);
  }
  for (int i = 0; i < 100000; ++i)
    xs.push_back(std::exp2(exponents(random))), ys.push_back(exponents(random) * wide(random) * 0.2F);
  for (int i = 0; i < 20000; ++i) xs.push_back(1 + wide(random) * 1e-3F), ys.push_back(exponents(random) * 1e3F);
  for (int i = 0; i < 2000; ++i) xs.push_back(10 * wide(random)), ys.push_back(std::nearbyint(exponents(random)));
  while (xs.size() % kw_lanes != 0) xs.push_back(1), ys.push_back(1);
  Worst worst;
  for (std::size_t i = 0; i < xs.size(); i += kw_lanes) {
    const kw_vec power = kw_pow(kw_load(&xs[i]), kw_load(&ys[i]));
    for (int lane = 0; lane < kw_lanes; ++lane) {
      const double expected = std::pow(static_cast<double>(xs[i + lane]), static_cast<double>(ys[i + lane]));
      worst.note(xs[i + lane], power[lane], expected);
      if (expected == 0) {
        EXPECT_EQ(std::signbit(power[lane]), std::signbit(expected)) << xs[i + lane] << " to " << ys[i + lane];
      }
    }
  }
  EXPECT_LE(worst.units, 0.6) << worst;
}

TEST(Vectors, HorizontalOperations) {
  std::vector<float> values(kw_lanes);
  for (int i = 0; i < kw_lanes; ++i) values[i] = static_cast<float>((i * 7) % kw_lanes + 1);
  const kw_vec v = kw_load(values.data());
  EXPECT_EQ(kw_sum(v), kw_lanes * (kw_lanes + 1) / 2);
  EXPECT_EQ(kw_max(v), kw_lanes);
  EXPECT_EQ(kw_min(v), 1);
  EXPECT_FLOAT_EQ(kw_prod(v), static_cast<float>(std::tgamma(kw_lanes + 1.0)));
  for (int lane = 0; lane < kw_lanes; ++lane) {
    kw_vec with_nan = v;
    with_nan[lane] = kNan;
    EXPECT_TRUE(std::isnan(kw_max(with_nan)) && std::isnan(kw_min(with_nan))) << lane;
    kw_vec with_large = v;
    with_large[lane] = 99;
    EXPECT_EQ(kw_max(with_large), 99);
    EXPECT_EQ(kw_min(-with_large), -99);
    EXPECT_TRUE(kw_any(with_large > 50.0F));
  }
  EXPECT_FALSE(kw_any(v > 50.0F));
}

TEST(Vectors, MaximaKeepNan) {
  for (const auto& [a, b] : {std::pair{1.0F, 2.0F}, {2.0F, 1.0F}, {-kInfinity, kInfinity}}) {
    EXPECT_EQ(kw_maximum(kw_splat(a), kw_splat(b))[0], std::max(a, b));
    EXPECT_EQ(kw_minimum(kw_splat(a), kw_splat(b))[0], std::min(a, b));
    EXPECT_EQ(kw_maximum(a, b), std::max(a, b));
    EXPECT_EQ(kw_minimum(a, b), std::min(a, b));
  }
  for (const auto& [a, b] : {std::pair{kNan, 2.0F}, {2.0F, kNan}, {kNan, kNan}}) {
    EXPECT_TRUE(std::isnan(kw_maximum(kw_splat(a), kw_splat(b))[0]));
    EXPECT_TRUE(std::isnan(kw_minimum(kw_splat(a), kw_splat(b))[0]));
    EXPECT_TRUE(std::isnan(kw_maximum(a, b)) && std::isnan(kw_minimum(a, b)));
  }
}

TEST(Vectors, PartsOfVectorsTouchNothingElse) {
  for (int n = 0; n <= kw_lanes; ++n) {
    std::vector<float> from(n), to(kw_lanes + 1, -1.0F);  // the sanitizers see a read past n
    for (int i = 0; i < n; ++i) from[i] = static_cast<float>(i + 1);
    const kw_vec v = kw_load_part(from.data(), n);
    kw_store_part(to.data(), v + 1.0F, n);
    for (int i = 0; i < kw_lanes; ++i) {
      EXPECT_EQ(v[i], i < n ? static_cast<float>(i + 1) : 0.0F) << n;
      EXPECT_EQ(to[i], i < n ? static_cast<float>(i + 2) : -1.0F) << n;
      EXPECT_EQ(kw_select(kw_first(n), kw_iota(), kw_splat(-5.0F))[i], i < n ? static_cast<float>(i) : -5.0F) << n;
    }
  }
}

TEST(Vectors, MasksFromBools) {
  bool flags[kw_lanes + 1] = {};
  for (int i = 0; i <= kw_lanes; ++i) flags[i] = i % 3 == 1;
  const kw_mask mask = kw_load_mask(flags + 1);
  for (int i = 0; i < kw_lanes; ++i) EXPECT_EQ(mask[i], flags[i + 1] ? -1 : 0) << i;
}

TEST(Vectors, StridedAndStreamedMemory) {
  std::vector<float> from(kw_lanes * 3), spread(kw_lanes * 2, 0.0F);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  const kw_vec v = kw_gather(from.data(), 3);
  kw_scatter(spread.data(), 2, v);
  alignas(64) float streamed[kw_lanes];
  kw_stream(streamed, v);
  kw_stream_fence();
  for (int i = 0; i < kw_lanes; ++i) {
    EXPECT_EQ(v[i], static_cast<float>(3 * i));
    EXPECT_EQ(spread[2 * i], v[i]);
    EXPECT_EQ(spread[2 * i + 1], 0.0F);
    EXPECT_EQ(streamed[i], v[i]);
  }
  std::ranges::fill(spread, -1.0F);
  kw_scatter(spread.data(), 2, v, 3);
  for (int i = 0; i < kw_lanes; ++i) EXPECT_EQ(spread[2 * i], i < 3 ? v[i] : -1.0F);
}

// Far from zero, and with a first block that is far from the others.
TEST(Moments, OfBlocksAreThoseOfAll) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(1e4, 0.5);
  std::vector<double> numbers(3000);
  for (double& number : numbers) number = normal(random);
  for (std::size_t i = 0; i < 7; ++i) numbers[i] = -1e6;
  kw_moments moments;
  double whole = 0;
  for (const double number : numbers) whole += number / static_cast<double>(numbers.size());
  double squares = 0;
  for (const double number : numbers) squares += (number - whole) * (number - whole);
  for (std::size_t begin = 0; begin < numbers.size(); begin += 7) {
    const std::size_t end = std::min(begin + 7, numbers.size());
    double sum = 0, own = 0;
    for (std::size_t i = begin; i < end; ++i) sum += numbers[i];
    const double mean = sum / static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i) own += (numbers[i] - mean) * (numbers[i] - mean);
    moments.add(static_cast<double>(end - begin), mean, own);
  }
  EXPECT_EQ(moments.count, 3000);
  EXPECT_NEAR(moments.mean, whole, 1e-9 * std::abs(whole));
  EXPECT_NEAR(moments.squares, squares, 1e-9 * squares);
}

}  // namespace
