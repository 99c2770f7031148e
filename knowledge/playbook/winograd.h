// Convolutions with 3 x 3 taps by Winograd's F(2 x 2, 3 x 3): tiles of 2 x 2 outputs from 4 x 4 inputs take 16 multiplications for
// each pair of channels instead of 36. Its rounding is that of sums of a few terms more. Pieces to paste; vectors.h says how.
#pragma once

#include <cstdint>

#include "product.h"
#include "vectors.h"

// piece: winograd_pairs needs: vec utility
// Even and odd elements of two vectors that follow each other, and the way back.
template <int... lane>
KW_INLINE void kw_part_pairs(const kw_vec& a, const kw_vec& b, kw_vec& even, kw_vec& odd, std::integer_sequence<int, lane...>) {
  even = __builtin_shufflevector(a, b, (2 * lane)...);
  odd = __builtin_shufflevector(a, b, (2 * lane + 1)...);
}
template <int... lane>
KW_INLINE void kw_join_pairs(const kw_vec& even, const kw_vec& odd, kw_vec& a, kw_vec& b, std::integer_sequence<int, lane...>) {
  a = __builtin_shufflevector(even, odd, (lane / 2 + (lane % 2) * kw_lanes)...);
  b = __builtin_shufflevector(even, odd, ((lane + kw_lanes) / 2 + (lane % 2) * kw_lanes)...);
}

// piece: winograd_weights needs:
// A window of nine weights as 16 factors, `apart` from each other.
static inline void kw_winograd_weights(const double* window, float* to, std::int64_t apart) {
  double half[4][3];
  for (int c = 0; c < 3; ++c) {
    const double a = window[c], b = window[3 + c], d = window[6 + c];
    half[0][c] = a;
    half[1][c] = (a + b + d) / 2;
    half[2][c] = (a - b + d) / 2;
    half[3][c] = d;
  }
  for (int r = 0; r < 4; ++r) {
    const double a = half[r][0], b = half[r][1], d = half[r][2];
    to[(4 * r) * apart] = static_cast<float>(a);
    to[(4 * r + 1) * apart] = static_cast<float>((a + b + d) / 2);
    to[(4 * r + 2) * apart] = static_cast<float>((a - b + d) / 2);
    to[(4 * r + 3) * apart] = static_cast<float>(d);
  }
}

// piece: winograd_range needs: vec load
// How far the numbers of a block reach, in magnitude.
struct kw_winograd_range {
  kw_vec sum{}, most{};
  // At least a vector of them; the last ones may count twice.
  void look(const float* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kw_lanes) {
      const kw_vec x = kw_load(from + (i + kw_lanes <= count ? i : count - kw_lanes));
      const kw_vec size = x < 0 ? -x : x;
      sum += size;
      most = size > most ? size : most;
    }
  }
  // Whether the largest is more than `times` the mean of `count`, or something is not finite.
  bool is_wide(float times, std::int64_t count) const {
    float all = 0, largest = 0;
    for (int l = 0; l < kw_lanes; ++l) {
      all += sum[l];
      largest = most[l] > largest ? most[l] : largest;
    }
    return all != 0 && !(largest * static_cast<float>(count) <= times * all && all - all == 0);
  }
};

// piece: winograd_input needs: vec load store winograd_pairs
// All tiles of a plane whose rows are `pitch` apart: 16 numbers a tile, `apart` from each other, neighbouring tiles side by side.
// Up to a vector more is written behind the last tile.
template <std::int64_t pitch, std::int64_t apart>
static void kw_winograd_input(const float* from, std::int64_t tile_rows, std::int64_t tile_columns, float* to) {
  constexpr auto lanes = std::make_integer_sequence<int, kw_lanes>{};
  for (std::int64_t i = 0; i < tile_rows; ++i)
    for (std::int64_t j = 0; j < tile_columns; j += kw_lanes) {
      const float* const at = from + 2 * i * pitch + 2 * j;
      float* const into = to + i * tile_columns + j;
      // Row by row of the result, each from two rows of the input: few registers are enough.
      constexpr int one[] = {0, 1, 2, 1}, other[] = {2, 2, 1, 3};
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const auto rows = [&](std::int64_t column) {
          const kw_vec a = kw_load(at + one[r] * pitch + column), b = kw_load(at + other[r] * pitch + column);
          return r == 1 ? a + b : a - b;
        };
        kw_vec even, odd, next_even, next_odd;
        kw_part_pairs(rows(0), rows(kw_lanes), even, odd, lanes);
        kw_part_pairs(rows(2), rows(kw_lanes + 2), next_even, next_odd, lanes);
        kw_store(into + (4 * r) * apart, even - next_even);
        kw_store(into + (4 * r + 1) * apart, odd + next_even);
        kw_store(into + (4 * r + 2) * apart, next_even - odd);
        kw_store(into + (4 * r + 3) * apart, odd - next_odd);
      }
    }
}

// piece: winograd_products needs: product_tile least
// One of the 16: what `rows` channels have at `tiles` tiles, and up to a vector more. Sums over more than `chain` channels are sums
// of sums, for their precision.
template <int rows, int vectors, int step, std::int64_t input_row, std::int64_t sums_row, std::int64_t chain>
static void kw_winograd_products(const float* weights, const float* input, std::int64_t channels, std::int64_t tiles, float* sums) {
  std::int64_t p = 0;
  for (; p + (vectors - 1) * kw_lanes < tiles; p += vectors * kw_lanes)
    for (std::int64_t c = 0; c < channels; c += chain)
      kw_product_tile<rows, vectors, 1, step, input_row, sums_row>(
          weights + c * step, input + c * input_row + p, kw_least(chain, channels - c), c > 0 ? sums + p : nullptr, sums + p);
  if constexpr (vectors > 1)
    if (p < tiles)
      kw_winograd_products<rows, vectors - 1, step, input_row, sums_row, chain>(weights, input + p, channels, tiles - p, sums + p);
}

// piece: winograd_output needs: vec load store winograd_pairs
// All outputs of a channel from the 16 sums of its tiles, in rows that are `pitch` apart and have room for whole vectors.
template <std::int64_t apart, std::int64_t pitch>
static void kw_winograd_output(const float* from, std::int64_t tile_rows, std::int64_t tile_columns, float* to) {
  constexpr auto lanes = std::make_integer_sequence<int, kw_lanes>{};
  for (std::int64_t i = 0; i < tile_rows; ++i)
    for (std::int64_t j = 0; j < tile_columns; j += kw_lanes) {
      const float* const at = from + i * tile_columns + j;
      kw_vec upper[4], lower[4];
      for (int c = 0; c < 4; ++c) {
        const kw_vec a = kw_load(at + c * apart), b = kw_load(at + (4 + c) * apart), d = kw_load(at + (8 + c) * apart),
                     e = kw_load(at + (12 + c) * apart);
        upper[c] = a + b + d;
        lower[c] = b - d - e;
      }
      float* const into = to + 2 * i * pitch + 2 * j;
      kw_vec first, second;
      kw_join_pairs(upper[0] + upper[1] + upper[2], upper[1] - upper[2] - upper[3], first, second, lanes);
      kw_store(into, first);
      kw_store(into + kw_lanes, second);
      kw_join_pairs(lower[0] + lower[1] + lower[2], lower[1] - lower[2] - lower[3], first, second, lanes);
      kw_store(into + pitch, first);
      kw_store(into + pitch + kw_lanes, second);
    }
}
