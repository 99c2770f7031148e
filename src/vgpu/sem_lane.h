// Loops over the 32 lanes of an instruction, made from functions of one element: lanes<add_f32> is a LaneFn. Never masks, never
// memory of the GPU. Only for the *_hot.cpp files.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vgpu/lanes.h"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#endif

// Functions of one element are part of the loop that calls them, so that it becomes SIMD.
#define KW_ELEMENT [[gnu::always_inline]] inline

namespace kw::vgpu::KW_ISA {

template <typename To, typename From>
KW_ELEMENT To bits_as(From value) {
  return __builtin_bit_cast(To, value);
}

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

// The word of a register's lane that holds a T.
template <typename T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
KW_ELEMENT T from_word(Word<T> word) {
  if constexpr (std::is_floating_point_v<T>)
    return bits_as<T>(word);
  else
    return static_cast<T>(word);
}

template <typename T>
KW_ELEMENT Word<T> to_word(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return bits_as<Word<T>>(value);
  else
    return static_cast<Word<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

template <typename T>
KW_ELEMENT const Word<T>* words(const void* lanes) {
  return static_cast<const Word<T>*>(__builtin_assume_aligned(lanes, 64));
}
template <typename T>
KW_ELEMENT Word<T>* words(void* lanes) {
  return static_cast<Word<T>*>(__builtin_assume_aligned(lanes, 64));
}

// Loop<F>::run is the LaneFn of F; how many sources it reads follows from F's signature.
template <auto F, typename Signature = decltype(F)>
struct Loop;

template <auto F, typename R, typename A>
struct Loop<F, R (*)(A)> {
  static void run(void* dst, const void* a, const void*, const void*, const LaneExtra&) {
    auto* d = words<R>(dst);
    const auto* x = words<A>(a);
    KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) d[i] = to_word<R>(F(from_word<A>(x[i])));
  }
};

template <auto F, typename R, typename A, typename B>
struct Loop<F, R (*)(A, B)> {
  static void run(void* dst, const void* a, const void* b, const void*, const LaneExtra&) {
    auto* d = words<R>(dst);
    const auto* x = words<A>(a);
    const auto* y = words<B>(b);
    KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) d[i] = to_word<R>(F(from_word<A>(x[i]), from_word<B>(y[i])));
  }
};

template <auto F, typename R, typename A, typename B, typename C>
struct Loop<F, R (*)(A, B, C)> {
  static void run(void* dst, const void* a, const void* b, const void* c, const LaneExtra&) {
    auto* d = words<R>(dst);
    const auto* x = words<A>(a);
    const auto* y = words<B>(b);
    const auto* z = words<C>(c);
    KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) d[i] = to_word<R>(F(from_word<A>(x[i]), from_word<B>(y[i]), from_word<C>(z[i])));
  }
};

template <auto F, typename R, typename A, typename B, typename C, typename D>
struct Loop<F, R (*)(A, B, C, D)> {
  static void run(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra) {
    auto* d = words<R>(dst);
    const auto* x = words<A>(a);
    const auto* y = words<B>(b);
    const auto* z = words<C>(c);
    const auto* w = words<D>(extra.d);
    KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) d[i] =
        to_word<R>(F(from_word<A>(x[i]), from_word<B>(y[i]), from_word<C>(z[i]), from_word<D>(w[i])));
  }
};

template <auto F>
inline constexpr LaneFn lanes = &Loop<F>::run;

// Two values of 16 bits in each 32-bit lane, both computed. A single 16-bit value is the lower of the two; the upper one is free.
template <auto F, typename T, int Sources>
struct Loop16 {
  static void run(void* dst, const void* a, const void* b, const void* c, const LaneExtra&) {
    auto* d = static_cast<T*>(__builtin_assume_aligned(dst, 64));
    const auto* x = static_cast<const T*>(__builtin_assume_aligned(a, 64));
    const auto* y = static_cast<const T*>(b);
    const auto* z = static_cast<const T*>(c);
    KW_LANE_LOOP for (int i = 0; i < 2 * kLanes; ++i) {
      if constexpr (Sources == 1) d[i] = static_cast<T>(F(x[i]));
      if constexpr (Sources == 2) d[i] = static_cast<T>(F(x[i], y[i]));
      if constexpr (Sources == 3) d[i] = static_cast<T>(F(x[i], y[i], z[i]));
    }
  }
};

// 32 words that are zero or all ones, as a mask with a bit a lane, and back.
KW_ELEMENT std::uint32_t pack_mask(const std::uint32_t* flags) {
#if defined(__AVX2__) && defined(__F16C__)
  std::uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m256 part = _mm256_load_ps(reinterpret_cast<const float*>(flags + 8 * i));
    mask |= static_cast<std::uint32_t>(_mm256_movemask_ps(part)) << (8 * i);
  }
  return mask;
#else
  std::uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= (flags[i] & 1U) << i;
  return mask;
#endif
}
KW_ELEMENT void expand_mask(std::uint32_t mask, std::uint32_t* flags) {
  for (int i = 0; i < kLanes; ++i) flags[i] = 0U - ((mask >> i) & 1U);
}

}  // namespace kw::vgpu::KW_ISA
