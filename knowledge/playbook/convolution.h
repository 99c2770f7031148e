// Inner parts of convolutions: sums of a tile of channels by neighbouring pixels in registers, and phases of pixels put together.
// Pieces to paste; vectors.h says how.
#pragma once

#include <cstdint>

#include "product.h"
#include "vectors.h"

// piece: convolution_tile needs: vec load store
// What `rows` channels have at (vectors * kw_lanes) neighbouring pixels: sums over input channels, which are `plane` apart, and
// taps, each some offset away, plus what `sums` has of earlier channels (if anything). Weights are in the order of use, `step` for
// each tap. Rows of sums are sums_row apart. A function of its own: registers are for the sums alone.
template <int rows, int vectors, int step>
static __attribute__((noinline)) void kw_convolution_tile(const float* weights, const float* input, const std::int64_t* taps,
                                                          std::int64_t tap_count, std::int64_t channels, std::int64_t plane,
                                                          float* sums, std::int64_t sums_row, bool adds) {
  kw_vec sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) sum[r][v] = kw_vec{};
  for (std::int64_t c = 0; c < channels; ++c, input += plane) {
#pragma GCC unroll 2
    for (std::int64_t t = 0; t < tap_count; ++t, weights += step) {
      const float* const at = input + taps[t];
      kw_vec line[vectors];
      for (int v = 0; v < vectors; ++v) line[v] = kw_load(at + v * kw_lanes);
      for (int r = 0; r < rows; ++r) {
        const float factor = weights[r];
        for (int v = 0; v < vectors; ++v) sum[r][v] += factor * line[v];
      }
    }
  }
  const auto keep = [&](auto with_earlier) {  // twice in the code, so that the sums never leave the registers
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        kw_store(sums + r * sums_row + v * kw_lanes, with_earlier(sum[r][v], sums + r * sums_row + v * kw_lanes));
  };
  if (adds)
    keep([](kw_vec own, const float* earlier) { return own + kw_load(earlier); });
  else
    keep([](kw_vec own, const float*) { return own; });
}

// piece: convolution_line needs: convolution_tile least
// All of `pixels` neighbours, and up to a vector more: whole tiles, then a narrower one. Sums over more than `chain` channels are
// sums of sums, for their precision. `adds`: to what the sums are already.
template <int rows, int vectors, int step, std::int64_t chain>
static void kw_convolution_line(const float* weights, const float* input, const std::int64_t* taps, std::int64_t tap_count,
                                std::int64_t channels, std::int64_t plane, float* sums, std::int64_t sums_row, std::int64_t pixels,
                                bool adds) {
  std::int64_t p = 0;
  for (; p + (vectors - 1) * kw_lanes < pixels; p += vectors * kw_lanes)
    for (std::int64_t c = 0; c < channels; c += chain)
      kw_convolution_tile<rows, vectors, step>(weights + c * tap_count * step, input + p + c * plane, taps, tap_count,
                                               kw_least(chain, channels - c), plane, sums + p, sums_row, adds || c > 0);
  if constexpr (vectors > 1)
    if (p < pixels)
      kw_convolution_line<rows, vectors - 1, step, chain>(weights, input + p, taps, tap_count, channels, plane, sums + p, sums_row,
                                                          pixels - p, adds);
}

// piece: interleave needs:
// Lines that are `apart`, element after element of each in turn.
template <int lines>
static inline void kw_interleave(const float* from, std::int64_t apart, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i)
    for (int l = 0; l < lines; ++l) to[i * lines + l] = from[l * apart + i];
}

// piece: convolution_patches needs: product_tile
// A tile of channels by the first `pixels` of a panel, in whole vectors.
template <int rows, int vectors, std::int64_t panel, std::int64_t sums_row>
static inline void kw_convolution_patches(const float* weights, const float* patches, std::int64_t steps, const float* before,
                                          float* sums, std::int64_t pixels) {
  if constexpr (vectors > 1)
    if (pixels <= (vectors - 1) * kw_lanes)
      return kw_convolution_patches<rows, vectors - 1, panel, sums_row>(weights, patches, steps, before, sums, pixels);
  kw_product_tile<rows, vectors, 1, rows, panel, sums_row>(weights, patches, steps, before, sums);
}

// piece: convolution_panel needs: vec load store least
// Lines of a panel, `count` vectors in each: from where in the input, and to what place of the line. What a vector has too much,
// the next one mends.
template <std::int64_t width, int count>
static void kw_panel_lines(const float* input, const std::int64_t* taps, std::int64_t tap_count, std::int64_t channels,
                           std::int64_t plane, const std::int64_t* from, const std::int64_t* place, std::int64_t vectors,
                           float* panel) {
  constexpr bool known = count < width / kw_lanes + 2;  // others are rare
  if constexpr (known)
    if (vectors != count)
      return kw_panel_lines<width, count + 1>(input, taps, tap_count, channels, plane, from, place, vectors, panel);
  for (std::int64_t c = 0; c < channels; ++c, input += plane)
    for (std::int64_t t = 0; t < tap_count; ++t, panel += width) {
      const float* const tap = input + taps[t];
      for (std::int64_t v = 0; v < (known ? count : vectors); ++v) kw_store(panel + place[v], kw_load(tap + from[v]));
    }
}

// The inputs of `width` neighbouring outputs as the panel of a product: for each channel, `plane` apart, and each tap, some offset
// away, a line of `width`. Outputs are counted from row to row, `columns` in each; rows of the input are `pitch` apart. What lies
// past the last of `pixels` has no meaning; up to a vector past the panel's end is written.
template <std::int64_t width>
static void kw_convolution_panel(const float* input, const std::int64_t* taps, std::int64_t tap_count, std::int64_t channels,
                                 std::int64_t plane, std::int64_t columns, std::int64_t pitch, std::int64_t first,
                                 std::int64_t pixels, float* panel) {
  std::int64_t from[width], place[width], vectors = 0;
  for (std::int64_t i = 0, end = 0; i < width && first + i < pixels; i = end) {  // what is in one row
    const std::int64_t row = (first + i) / columns, column = (first + i) % columns;
    end = kw_least(width, i + columns - column);
    for (std::int64_t x = i; x < end; x += kw_lanes) {
      from[vectors] = row * pitch + column + x - i;
      place[vectors++] = x;
    }
  }
  kw_panel_lines<width, width / kw_lanes>(input, taps, tap_count, channels, plane, from, place, vectors, panel);
}
