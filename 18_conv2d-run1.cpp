// Written by Kernelwright, run 1, for the problem 18_conv2d (sha256 08e92a63a1e5).
// Measured on Intel(R) Xeon(R) Processor with 2 threads: 1.12x (0.85 to 1.68) over eager; 1.52x (1.03 to 2.28) over torch.compile.
//
// Computes conv2d.
// strategy convolution_tile: a tile of channels by pixels in registers, from a padded copy
// strategy explicit_vectors: the inner loops work on vectors
// strategy masked_tails: what is left of a row is one vector with lanes masked off
// strategy parallel_outer: the outer loops run on all threads
// strategy prepack_weights: weights packed once
// strategy stream_stores: outputs are written past the caches
// strategy unroll_inner: several vectors an iteration
#include "problem.h"

// kw:knob KW_FEATURES 1 2 3 4 6 8 12
#ifndef KW_FEATURES
#define KW_FEATURES 8
#endif
// kw:knob KW_PIXELS 1 2 3 4 6 8
#ifndef KW_PIXELS
#define KW_PIXELS 3
#endif
// kw:knob KW_BLOCK_ROWS 1 2 4 8 16 32 64 128
#ifndef KW_BLOCK_ROWS
#define KW_BLOCK_ROWS 64
#endif
// kw:knob KW_UNROLL 2 4 8
#ifndef KW_UNROLL
#define KW_UNROLL 4
#endif
// kw:require KW_FEATURES * KW_PIXELS <= 28

#include <new>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define KW_INLINE static inline __attribute__((always_inline))
#if defined(__AVX512F__)
constexpr int kw_lanes = 16;
#elif defined(__AVX__)
constexpr int kw_lanes = 8;
#else
constexpr int kw_lanes = 4;
#endif
typedef float kw_vec __attribute__((vector_size(4 * kw_lanes)));
typedef int kw_ivec __attribute__((vector_size(4 * kw_lanes)));
typedef kw_ivec kw_mask;  // what comparisons of vectors give: all bits of a lane, or none

// At any address of a float.
KW_INLINE kw_vec kw_load(const float* p) {
  kw_vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

KW_INLINE void kw_store(float* p, kw_vec v) { __builtin_memcpy(p, &v, sizeof v); }

// What `rows` channels have at (vectors * kw_lanes) neighbouring pixels: sums over input channels, which are `plane` apart, and
// taps, each some offset away. Weights are in the order of use, `step` for each tap. Rows of sums are sums_row apart. A function of
// its own: registers are for the sums alone.
template <int rows, int vectors, int step>
static __attribute__((noinline)) void kw_convolution_tile(const float* weights, const float* input, const std::int64_t* taps,
                                                          std::int64_t tap_count, std::int64_t channels, std::int64_t plane,
                                                          float* sums, std::int64_t sums_row) {
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
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) kw_store(sums + r * sums_row + v * kw_lanes, sum[r][v]);
}

// All of `pixels` neighbours, and up to a vector more: whole tiles, then a narrower one.
template <int rows, int vectors, int step>
static void kw_convolution_line(const float* weights, const float* input, const std::int64_t* taps, std::int64_t tap_count,
                                std::int64_t channels, std::int64_t plane, float* sums, std::int64_t sums_row,
                                std::int64_t pixels) {
  std::int64_t p = 0;
  for (; p + (vectors - 1) * kw_lanes < pixels; p += vectors * kw_lanes)
    kw_convolution_tile<rows, vectors, step>(weights, input + p, taps, tap_count, channels, plane, sums + p, sums_row);
  if constexpr (vectors > 1)
    if (p < pixels)
      kw_convolution_line<rows, vectors - 1, step>(weights, input + p, taps, tap_count, channels, plane, sums + p, sums_row,
                                                   pixels - p);
}

constexpr std::int64_t kw_least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

KW_INLINE kw_ivec kw_iota_int() {
#if defined(__AVX512F__)
  return kw_ivec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__AVX__)
  return kw_ivec{0, 1, 2, 3, 4, 5, 6, 7};
#else
  return kw_ivec{0, 1, 2, 3};
#endif
}

// The mask of the first n lanes.
KW_INLINE kw_mask kw_first(int n) { return kw_iota_int() < n; }

// The first n floats, 0 in the other lanes; reads no memory past them.
KW_INLINE kw_vec kw_load_part(const float* p, int n) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif defined(__AVX__)
  return (kw_vec)_mm256_maskload_ps(p, (__m256i)kw_first(n));
#else
  kw_vec v{};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}

constexpr std::int64_t kw_most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

// The first n lanes; touches no memory past them.
KW_INLINE void kw_store_part(float* p, kw_vec v, int n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#elif defined(__AVX__)
  _mm256_maskstore_ps(p, (__m256i)kw_first(n), (__m256)v);
#else
  for (int i = 0; i < n; ++i) p[i] = v[i];
#endif
}

// Past the caches. p is a multiple of sizeof(kw_vec); kw_stream_fence() comes before another thread may read it.
KW_INLINE void kw_stream(float* p, kw_vec v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, (__m512)v);
#elif defined(__AVX__)
  _mm256_stream_ps(p, (__m256)v);
#elif defined(__SSE2__)
  _mm_stream_ps(p, (__m128)v);
#else
  __builtin_memcpy(p, &v, sizeof v);
#endif
}
KW_INLINE void kw_stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

alignas(64) static float scratch0[1605632];
// A block of a convolution: rows and columns of its outputs, of the padded input, and the taps.
struct convolution {
  static constexpr std::int64_t rows = KW_BLOCK_ROWS < 56 ? KW_BLOCK_ROWS : 56;
  static constexpr std::int64_t columns = 56;
  static constexpr std::int64_t pitch = columns + 2;
  static constexpr std::int64_t slot = (rows + 2) * pitch;
  static constexpr std::int64_t plane = (1 * slot + 15) / 16 * 16 + ((1 * slot + 15) / 16 % 16 == 0 ? 16 : 0);
  static constexpr std::int64_t line = rows * pitch + KW_PIXELS * kw_lanes;
  static constexpr std::int64_t padded_floats = 48 * plane + pitch + KW_PIXELS * kw_lanes + 64;
  static constexpr std::int64_t tiles = (64 + KW_FEATURES - 1) / KW_FEATURES;
  static constexpr std::int64_t tile_weights = 432 * KW_FEATURES;
  static constexpr int edge = 64 % KW_FEATURES != 0 ? 64 % KW_FEATURES : KW_FEATURES;
  static constexpr std::int64_t taps[] = {0, 1, 2, pitch, pitch + 1, pitch + 2, 2 * pitch, 2 * pitch + 1, 2 * pitch + 2};
  static constexpr std::int64_t phases[] = {0, 9};
  static constexpr std::int64_t window0[] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  static constexpr std::int64_t window1[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
};
alignas(64) static thread_local float padded[convolution::padded_floats];
alignas(64) static thread_local float sums[1 * KW_FEATURES * convolution::line];
constexpr int kw_unroll = KW_UNROLL;

// The prepared weights, one after the other, each at a multiple of 64 bytes.
constexpr std::int64_t weights_packed_offset = 0;
constexpr std::int64_t prepared_floats =
    (weights_packed_offset + (1 * convolution::tiles * convolution::tile_weights + 16) + 15) / 16 * 16;

extern "C" void* kw_prepare(const float* conv_weight, const float* conv_bias) {
  float* const memory = static_cast<float*>(::operator new(prepared_floats * sizeof(float), std::align_val_t(64)));
  float* const weights_packed = memory + weights_packed_offset;
  {
    float* to = weights_packed;
    for (std::int64_t group = 0; group < 1; ++group) {
      for (std::int64_t first = 0; first < 64; first += KW_FEATURES) {
        for (std::int64_t phase = 0; phase < 1; ++phase) {
          for (std::int64_t c = 0; c < 48; ++c) {
            for (std::int64_t t = convolution::phases[phase]; t < convolution::phases[phase + 1]; ++t) {
              const std::int64_t k = convolution::window0[t];
              const std::int64_t k1 = convolution::window1[t];
              for (std::int64_t r = 0; r < KW_FEATURES; ++r, ++to) {
                *to = 0.0f;
                if (first + r >= 64) continue;
                const std::int64_t feature = first + r;
                *to = conv_weight[group * 27648 + feature * 432 + c * 9 + k * 3 + k1];
              }
            }
          }
        }
      }
    }
  }
  return memory;
}

extern "C" void kw_release(void* state) { ::operator delete(state, std::align_val_t(64)); }

extern "C" void kw_kernel(void* state, const float* x, const float* conv_weight, const float* conv_bias, float* __restrict out) {
  const float* const weights_packed = static_cast<const float*>(state) + weights_packed_offset;
  // convolution: conv2d
  {
    const auto convolve = [&](std::int64_t item, std::int64_t first_row) {
      float* const padded1 = padded;
      float* const sums1 = sums;
      const std::int64_t rows = kw_least(convolution::rows, 56 - first_row);
      constexpr std::int64_t columns = convolution::columns;
      for (std::int64_t c = 0; c < 48; ++c) {
        float* slot = padded1 + c * convolution::plane;
        for (std::int64_t y = 0; y < rows + 2; ++y) {
          float* const to = slot + y * convolution::pitch;
          const std::int64_t width = columns + 2;
          const std::int64_t at_row = (first_row + y) * 1 + -1;
          if (at_row >= 0 && at_row < 56) {
            const std::int64_t at = at_row;
            const std::int64_t begin = 1, end = 57;
            const std::int64_t from = kw_least(kw_most(begin - 0, 0), width);
            const std::int64_t until = kw_most(from, kw_least(end - 0, width));
            for (std::int64_t x1 = 0; x1 < from; ++x1) to[x1] = 0.0f;
            const std::int64_t moved = -1;
            for (std::int64_t x2 = from + moved; x2 + kw_lanes <= until + moved; x2 += kw_lanes) {
              kw_store(to + x2 - moved, kw_load(x + item * 150528 + c * 3136 + at * 56 + x2));
            }
            const std::int64_t rest = until - (until - from) % kw_lanes + moved;
            if (const int left = int(until + moved - rest); left > 0) {
              const std::int64_t x3 = rest;
              kw_store(to + rest - moved, kw_load_part(x + item * 150528 + c * 3136 + at * 56 + x3, left));
            }
            for (std::int64_t x1 = until; x1 < width; ++x1) to[x1] = 0.0f;
          } else
            for (std::int64_t x1 = 0; x1 < width; ++x1) to[x1] = 0.0f;
        }
        slot += convolution::slot;
      }
      for (std::int64_t feature = 0; feature < 64; feature += KW_FEATURES) {
        const float* const weights = weights_packed + (feature / KW_FEATURES) * convolution::tile_weights;
        for (std::int64_t side = 0; side < 1; ++side) {
          const std::int64_t begin = convolution::phases[side], count = convolution::phases[side + 1] - begin;
          float* const into = sums1 + side * KW_FEATURES * convolution::line;
          if (feature + KW_FEATURES <= 64)
            kw_convolution_line<KW_FEATURES, KW_PIXELS, KW_FEATURES>(weights + begin * 48 * KW_FEATURES, padded1,
                                                                     convolution::taps + begin, count, 48, convolution::plane, into,
                                                                     convolution::line, (rows - 1) * convolution::pitch + columns);
          else
            kw_convolution_line<convolution::edge, KW_PIXELS, KW_FEATURES>(
                weights + begin * 48 * KW_FEATURES, padded1, convolution::taps + begin, count, 48, convolution::plane, into,
                convolution::line, (rows - 1) * convolution::pitch + columns);
        }
        for (std::int64_t r = 0; r < kw_least(KW_FEATURES, 64 - feature); ++r) {
          const std::int64_t channel = feature + r;
          for (std::int64_t y = 0; y < rows; ++y) {
            const std::int64_t y2 = y;
            const float* line = sums1 + r * convolution::line + y * convolution::pitch;
#pragma GCC unroll kw_unroll
            for (std::int64_t j = 0; j + kw_lanes <= 56; j += kw_lanes) {
              kw_store(scratch0 + item * 200704 + channel * 3136 + first_row * 56 + y2 * 56 + j, kw_load(line + j));
            }
            if (constexpr int left1 = 56 % kw_lanes; left1 != 0) {
              const std::int64_t j1 = 56 - left1;
              kw_store_part(scratch0 + item * 200704 + channel * 3136 + first_row * 56 + y2 * 56 + j1, kw_load(line + j1), left1);
            }
          }
        }
      }
    };
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t n = 0; n < 8; ++n) {
      for (std::int64_t row = 0; row < 56; row += convolution::rows) {
        convolve(n, row);
      }
    }
  }
  // flat: conv2d
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < 512; ++i) {
    const std::int64_t part = i / 64;
    const float conv_bias_at = conv_bias[i - part * 64];
#pragma GCC unroll kw_unroll
    for (std::int64_t j2 = 0; j2 + kw_lanes <= 3136; j2 += kw_lanes) {
      kw_stream(out + i * 3136 + j2, (kw_load(scratch0 + i * 3136 + j2) + conv_bias_at));
    }
  }
  kw_stream_fence();
}
