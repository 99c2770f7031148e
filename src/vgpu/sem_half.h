// float16 and bfloat16 as arrays of 64 bit patterns: to float32 without loss, and back with one rounding. Never arithmetic.
#pragma once

#include "vgpu/sem_float.h"

namespace kw::vgpu::KW_ISA {

inline constexpr int kHalves = 2 * kLanes;

KW_ELEMENT float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16, rest = half & 0x7fffU;
  // Exponent moved as if normal; a multiplication puts subnormals right, infinities and NaNs get the largest exponent.
  const float scaled = bits_as<float>(rest << 13) * 0x1p112F;
  const std::uint32_t bits = rest >= 0x7c00U ? (rest << 13 | 0x7f800000U) : bits_as<std::uint32_t>(scaled);
  return bits_as<float>(bits | sign);
}
KW_ELEMENT float bf16_to_float(std::uint16_t half) { return bits_as<float>(static_cast<std::uint32_t>(half) << 16); }

// To the nearest, ties to even; every NaN becomes 0x7fff.
KW_ELEMENT std::uint16_t float_to_half(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U, rest = bits & 0x7fffffffU;
  // Subnormals of float16: adding 0.5 makes the float32 addition round at 2^-24.
  const std::uint32_t small = bits_as<std::uint32_t>(bits_as<float>(rest) + 0.5F) - 0x3f000000U;
  const std::uint32_t normal = (rest + 0xfffU + (rest >> 13 & 1U) - 0x38000000U) >> 13;
  std::uint32_t result = rest < 0x38800000U ? small : normal;
  result = rest >= 0x47800000U ? 0x7c00U : result;  // the largest that doesn't round to infinity gets there by its own carry
  return static_cast<std::uint16_t>(rest > 0x7f800000U ? 0x7fffU : result | sign);
}
KW_ELEMENT std::uint16_t float_to_bf16(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : rounded);
}
// A float32 whose last bit is one where the double isn't a float32: it can be rounded once more without harm.
KW_ELEMENT float double_to_odd_float(double value) {
  const float truncated = narrowed<Round::rz>(value);
  const bool inexact = static_cast<double>(truncated) < value || static_cast<double>(truncated) > value;
  const auto bits = bits_as<std::uint32_t>(truncated);
  return bits_as<float>(inexact ? bits | 1U : bits);
}

struct HalfFormat {
  static constexpr bool is_half = true;
  static void widen(const void* from, float* to) {
    const auto* halves = static_cast<const std::uint16_t*>(__builtin_assume_aligned(from, 64));
#if defined(__AVX2__) && defined(__F16C__)
    for (int i = 0; i < kHalves; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves + i))));
#else
    for (int i = 0; i < kHalves; ++i) to[i] = half_to_float(halves[i]);
#endif
  }
  static void narrow(const float* from, void* to) {
    auto* halves = static_cast<std::uint16_t*>(__builtin_assume_aligned(to, 64));
#if defined(__AVX2__) && defined(__F16C__)
    for (int i = 0; i < kHalves; i += 8) {
      __m128i packed = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      const __m128i rest = _mm_and_si128(packed, _mm_set1_epi16(0x7fff));
      const __m128i nan = _mm_cmpgt_epi16(rest, _mm_set1_epi16(0x7c00));
      packed = _mm_blendv_epi8(packed, _mm_set1_epi16(0x7fff), nan);
      _mm_store_si128(reinterpret_cast<__m128i*>(halves + i), packed);
    }
#else
    for (int i = 0; i < kHalves; ++i) halves[i] = float_to_half(from[i]);
#endif
  }
};

struct BfloatFormat {
  static constexpr bool is_half = false;
  static void widen(const void* from, float* to) {
    const auto* halves = static_cast<const std::uint16_t*>(__builtin_assume_aligned(from, 64));
    for (int i = 0; i < kHalves; ++i) to[i] = bf16_to_float(halves[i]);
  }
  static void narrow(const float* from, void* to) {
    auto* halves = static_cast<std::uint16_t*>(__builtin_assume_aligned(to, 64));
    for (int i = 0; i < kHalves; ++i) halves[i] = float_to_bf16(from[i]);
  }
};

}  // namespace kw::vgpu::KW_ISA
