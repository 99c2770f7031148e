// Inner parts of matrix products: a tile of the output in registers, blocks turned over while they are copied, and what lets blocks
// of zeros be left out. Pieces to paste; vectors.h says how.
#pragma once

#include <cstdint>

#include "vectors.h"

// piece: product_tile needs: vec load store stream
// rows x (vectors * kw_lanes) sums of products over `steps` positions of the inner dimension, which stay in registers meanwhile,
// plus what `before` has (if anything), into `tile`. Its rows are tile_row apart, and asked for early: the sums take longer than
// they do to come; `past_cache`: written past the caches, at multiples of a vector's size. A function of its own: registers are for
// the sums alone.
template <int rows, int vectors, std::int64_t left_row, std::int64_t left_step, std::int64_t right_step, std::int64_t tile_row,
          bool past_cache = false>
static __attribute__((noinline)) void kw_product_tile(const float* left, const float* right, std::int64_t steps,
                                                      const float* before, float* tile) {
  for (int r = 0; r < rows && !past_cache; ++r) __builtin_prefetch(tile + r * tile_row, 1);
  kw_vec sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) sum[r][v] = kw_vec{};
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < steps; ++k) {
    kw_vec line[vectors];
    for (int v = 0; v < vectors; ++v) line[v] = kw_load(right + k * right_step + v * kw_lanes);
    for (int r = 0; r < rows; ++r) {
      const float factor = left[k * left_step + r * left_row];
      for (int v = 0; v < vectors; ++v) sum[r][v] += factor * line[v];
    }
  }
  const auto keep = [&](auto with_before) {  // twice in the code, so that the sums never leave the registers
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) {
        const std::int64_t at = r * tile_row + v * kw_lanes;
        past_cache ? kw_stream(tile + at, with_before(sum[r][v], at)) : kw_store(tile + at, with_before(sum[r][v], at));
      }
  };
  if (before != nullptr)
    keep([&](kw_vec own, std::int64_t at) { return own + kw_load(before + at); });
  else
    keep([](kw_vec own, std::int64_t) { return own; });
}

// piece: utility needs:
#include <utility>

// piece: transpose needs: vec utility store
// `tall` vectors, kw_lanes or half of them, as rows that are turned over in squares: exchanges at distance 1, 2, 4, ... below it.
template <int distance, int... lane>
KW_INLINE void kw_exchange(kw_vec& a, kw_vec& b, std::integer_sequence<int, lane...>) {
  const kw_vec low = __builtin_shufflevector(a, b, ((lane & distance) ? kw_lanes + lane - distance : lane)...);
  const kw_vec high = __builtin_shufflevector(a, b, ((lane & distance) ? kw_lanes + lane : lane + distance)...);
  a = low;
  b = high;
}
template <int tall, int distance = 1>
KW_INLINE void kw_transpose(kw_vec* rows) {
  if constexpr (distance < tall) {
    for (int i = 0; i < tall; ++i)
      if (!(i & distance)) kw_exchange<distance>(rows[i], rows[i + distance], std::make_integer_sequence<int, kw_lanes>{});
    kw_transpose<tall, 2 * distance>(rows);
  }
}
// One of kw_lanes columns of what was turned over. Two squares lie side by side where rows were half as many.
template <int tall>
KW_INLINE void kw_store_column(float* to, const kw_vec* turned, int column) {
  if constexpr (tall == kw_lanes) return kw_store(to, turned[column]);
  __builtin_memcpy(to, reinterpret_cast<const float*>(turned + column % tall) + column / tall * tall, tall * sizeof(float));
}

// piece: panel_facts needs: vec
// What a packed panel says of the work it needs: steps outside [begin, end) are all zero; `finite` is false where it has an
// infinity or a NaN, which times 0 is no 0.
struct kw_panel_facts {
  std::int64_t begin, end;
  bool finite;
  template <std::int64_t width>
  void look(const float* panel, std::int64_t steps) {
    const auto magnitude = [&](std::int64_t i) {
      int bits;
      __builtin_memcpy(&bits, panel + i, sizeof bits);
      return bits & 0x7fffffff;
    };
    const auto empty = [&](std::int64_t step) {
      int any = 0;
      for (std::int64_t i = 0; i < width; ++i) any |= magnitude(step * width + i);
      return any == 0;
    };
    begin = 0;
    end = steps;
    while (begin < end && empty(begin)) ++begin;
    while (end > begin && empty(end - 1)) --end;
    int most = 0;  // infinities and NaNs have the greatest exponent
    for (std::int64_t i = begin * width; i < end * width; ++i) most = magnitude(i) > most ? magnitude(i) : most;
    finite = most < 0x7f800000;
  }
};

// piece: least needs:
constexpr std::int64_t kw_least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// piece: most needs:
constexpr std::int64_t kw_most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
