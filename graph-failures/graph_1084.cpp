// Computes conv2d, var, sub, linalg_vector_norm, linear, gelu.
// strategy convolution_tile: a tile of channels by pixels in registers, from a padded copy
// strategy explicit_vectors: the inner loops work on vectors
// strategy fuse_chain: pointwise operations where they are used
// strategy fuse_epilogue: what follows the product while the tile is hot
// strategy fuse_row_passes: all passes over a row while it is in cache
// strategy masked_tails: what is left of a row is one vector with lanes masked off
// strategy online_moments: mean and squared distances from it, block by block in one visit of the row
// strategy prepack_weights: weights packed once
// strategy reciprocal_multiply: one division a row, then multiplications
// strategy unroll_inner: several vectors an iteration
#include "problem.h"

// kw:knob KW_FEATURES 1 2 3 4 6 8 12
#ifndef KW_FEATURES
#define KW_FEATURES 4
#endif
// kw:knob KW_PIXELS 1 2 3 4 6 8
#ifndef KW_PIXELS
#define KW_PIXELS 3
#endif
// kw:knob KW_BLOCK_ROWS 1 2 4 8 16 32 64 128
#ifndef KW_BLOCK_ROWS
#define KW_BLOCK_ROWS 1
#endif
// kw:knob KW_UNROLL 2 4 8
#ifndef KW_UNROLL
#define KW_UNROLL 4
#endif
// kw:require KW_FEATURES * KW_PIXELS <= 14

#include <new>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif
#include <cmath>

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
typedef unsigned kw_uvec __attribute__((vector_size(4 * kw_lanes)));  // bits of floats, which may overflow
typedef kw_ivec kw_mask;  // what comparisons of vectors give: all bits of a lane, or none

// At any address of a float.
KW_INLINE kw_vec kw_load(const float* p) {
  kw_vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

KW_INLINE void kw_store(float* p, kw_vec v) { __builtin_memcpy(p, &v, sizeof v); }

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
  if (adds)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) sum[r][v] += kw_load(sums + r * sums_row + v * kw_lanes);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) kw_store(sums + r * sums_row + v * kw_lanes, sum[r][v]);
}

constexpr std::int64_t kw_least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// All of `pixels` neighbours, and up to a vector more: whole tiles, then a narrower one. Sums over more than `chain` channels are
// sums of sums, for their precision.
template <int rows, int vectors, int step, std::int64_t chain>
static void kw_convolution_line(const float* weights, const float* input, const std::int64_t* taps, std::int64_t tap_count,
                                std::int64_t channels, std::int64_t plane, float* sums, std::int64_t sums_row,
                                std::int64_t pixels) {
  std::int64_t p = 0;
  for (; p + (vectors - 1) * kw_lanes < pixels; p += vectors * kw_lanes)
    for (std::int64_t c = 0; c < channels; c += chain)
      kw_convolution_tile<rows, vectors, step>(weights + c * tap_count * step, input + p + c * plane, taps, tap_count,
                                               kw_least(chain, channels - c), plane, sums + p, sums_row, c > 0);
  if constexpr (vectors > 1)
    if (p < pixels)
      kw_convolution_line<rows, vectors - 1, step, chain>(weights, input + p, taps, tap_count, channels, plane, sums + p, sums_row,
                                                          pixels - p);
}

// p[0], p[stride], p[2 * stride], ...
KW_INLINE kw_vec kw_gather(const float* p, long stride) {
  const long s = stride;
#if defined(__AVX512F__)
  return kw_vec{p[0],     p[s],     p[2 * s],  p[3 * s],  p[4 * s],  p[5 * s],  p[6 * s],  p[7 * s],
                p[8 * s], p[9 * s], p[10 * s], p[11 * s], p[12 * s], p[13 * s], p[14 * s], p[15 * s]};
#elif defined(__AVX__)
  return kw_vec{p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s]};
#else
  return kw_vec{p[0], p[s], p[2 * s], p[3 * s]};
#endif
}

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

// How many numbers there were, their mean, and the sum of their squared distances from it; blocks are added one after the other,
// each with its own, so that nothing is the difference of large sums.
struct kw_moments {
  double count = 0.0, mean = 0.0, squares = 0.0;
  void add(double own_count, double own_mean, double own_squares) {
    const double all = count + own_count, apart = own_mean - mean;
    squares += own_squares + apart * apart * (count * own_count / all);
    mean += apart * (own_count / all);
    count = all;
  }
};

constexpr std::int64_t kw_most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

template <class T>
static inline T kw_gelu(T x) {
  return T(0.5) * x * std::erfc(x * T(-0.7071067811865476));
}

KW_INLINE kw_vec kw_splat(float x) { return x - kw_vec{}; }  // x - 0 is x, also for -0

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

// A vector as quarters or halves or whole of four lanes: what horizontal operations begin with.
typedef float kw_quad __attribute__((vector_size(16)));
struct kw_quads {
  kw_quad part[kw_lanes / 4];
};
KW_INLINE kw_quads kw_split(kw_vec x) {
  kw_quads quads;
  __builtin_memcpy(&quads, &x, sizeof x);
  return quads;
}

// Of all lanes, as a tree.
KW_INLINE float kw_sum(kw_vec x) {
  const kw_quads q = kw_split(x);
  kw_quad s = q.part[0];
  for (int i = 1; i < kw_lanes / 4; ++i) s += q.part[i];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

alignas(64) static float scratch0[6336];
// A block of a convolution: rows and columns of its outputs, of the padded input, and the taps.
namespace {
struct convolution {
  static constexpr std::int64_t rows = KW_BLOCK_ROWS < 8 ? KW_BLOCK_ROWS : 8;
  static constexpr std::int64_t columns = 3;
  static constexpr std::int64_t pitch = columns + 2;
  static constexpr std::int64_t slot = (rows + 2) * pitch;
  static constexpr std::int64_t plane = (1 * slot + 15) / 16 * 16 + ((1 * slot + 15) / 16 % 16 == 0 ? 16 : 0);
  static constexpr std::int64_t line = rows * pitch + KW_PIXELS * kw_lanes;
  static constexpr std::int64_t padded_floats = 2 * plane + pitch + KW_PIXELS * kw_lanes + 64;
  static constexpr std::int64_t tiles = (8 + KW_FEATURES - 1) / KW_FEATURES;
  static constexpr std::int64_t tile_weights = 18 * KW_FEATURES;
  static constexpr int edge = 8 % KW_FEATURES != 0 ? 8 % KW_FEATURES : KW_FEATURES;
  static constexpr std::int64_t taps[] = {0, 1, 2, pitch, pitch + 1, pitch + 2, 2 * pitch, 2 * pitch + 1, 2 * pitch + 2};
  static constexpr std::int64_t phases[] = {0, 9};
  static constexpr std::int64_t window0[] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  static constexpr std::int64_t window1[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
};
}  // namespace
alignas(64) static thread_local float padded[convolution::padded_floats];
alignas(64) static thread_local float sums[1 * KW_FEATURES * convolution::line];
constexpr int kw_unroll = KW_UNROLL;

// The prepared weights, one after the other, each at a multiple of 64 bytes.
constexpr std::int64_t weights_packed_offset = 0;
constexpr std::int64_t prepared_floats =
    (weights_packed_offset + (1 * convolution::tiles * convolution::tile_weights + 16) + 15) / 16 * 16;

extern "C" void* kw_prepare(const float* m0_weight, const float* m0_bias, const float* m1_weight) {
  float* const memory = static_cast<float*>(::operator new(prepared_floats * sizeof(float), std::align_val_t(64)));
  float* const weights_packed = memory + weights_packed_offset;
  {
    {
      float* to = weights_packed;
      for (std::int64_t group = 0; group < 1; ++group) {
        for (std::int64_t first = 0; first < 8; first += KW_FEATURES) {
          for (std::int64_t phase = 0; phase < 1; ++phase) {
            for (std::int64_t c = 0; c < 2; ++c) {
              for (std::int64_t t = convolution::phases[phase]; t < convolution::phases[phase + 1]; ++t) {
                const std::int64_t k = convolution::window0[t];
                const std::int64_t k1 = convolution::window1[t];
                for (std::int64_t r = 0; r < KW_FEATURES; ++r, ++to) {
                  *to = 0.0f;
                  if (first + r >= 8) continue;
                  const std::int64_t feature = first + r;
                  *to = m0_weight[group * 144 + feature * 18 + c * 9 + k * 3 + k1];
                }
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

extern "C" void kw_kernel(void* state, const float* x0, const float* m0_weight, const float* m0_bias, const float* m1_weight,
                          float* __restrict out) {
  const float* const weights_packed = static_cast<const float*>(state) + weights_packed_offset;
  // convolution: conv2d
  {
    const auto convolve = [&](std::int64_t item, std::int64_t first_row) {
      float* const padded1 = padded;
      const std::int64_t rows = kw_least(convolution::rows, 8 - first_row);
      constexpr std::int64_t columns = convolution::columns;
      float* const sums1 = sums;
      const std::int64_t copied_rows = rows + 2;
      for (std::int64_t c = 0; c < 2; ++c) {
        float* slot = padded1 + c * convolution::plane;
        for (std::int64_t y = 0; y < copied_rows; ++y) {
          float* const to = slot + y * convolution::pitch;
          const std::int64_t width = convolution::pitch;
          const std::int64_t at_row = (first_row + y) * 1 + -1;
          if (at_row >= 0 && at_row < 8) {
            const std::int64_t at = at_row;
            const std::int64_t begin = 1, end = 4;
            const std::int64_t from = kw_least(kw_most(begin - 0, 0), width);
            const std::int64_t until = kw_most(from, kw_least(end - 0, width));
            for (std::int64_t x = 0; x < from; ++x) to[x] = 0.0f;
            const std::int64_t moved = -1;
            for (std::int64_t x1 = from + moved; x1 + kw_lanes <= until + moved; x1 += kw_lanes) {
              kw_store(to + x1 - moved, kw_load(x0 + item * 48 + c * 24 + at * 3 + x1));
            }
            const std::int64_t rest = until - (until - from) % kw_lanes + moved;
            if (const int left = int(until + moved - rest); left > 0) {
              const std::int64_t x2 = rest;
              kw_store(to + rest - moved, kw_load_part(x0 + item * 48 + c * 24 + at * 3 + x2, left));
            }
            for (std::int64_t x = until; x < width; ++x) to[x] = 0.0f;
          } else
            for (std::int64_t x = 0; x < width; ++x) to[x] = 0.0f;
        }
        slot += convolution::slot;
      }
      for (std::int64_t feature = 0; feature < 8; feature += KW_FEATURES) {
        const float* const weights = weights_packed + (feature / KW_FEATURES) * convolution::tile_weights;
        for (std::int64_t side = 0; side < 1; ++side) {
          const std::int64_t begin = convolution::phases[side], count = convolution::phases[side + 1] - begin;
          float* const into = sums1 + side * KW_FEATURES * convolution::line;
          for (std::int64_t y = 0; y < rows; ++y) {
            if (feature + KW_FEATURES <= 8)
              kw_convolution_line<KW_FEATURES, KW_PIXELS, KW_FEATURES, 28>(
                  weights + begin * 2 * KW_FEATURES, padded1 + y * convolution::pitch, convolution::taps + begin, count, 2,
                  convolution::plane, into + y * convolution::pitch, convolution::line, columns);
            else
              kw_convolution_line<convolution::edge, KW_PIXELS, KW_FEATURES, 28>(
                  weights + begin * 2 * KW_FEATURES, padded1 + y * convolution::pitch, convolution::taps + begin, count, 2,
                  convolution::plane, into + y * convolution::pitch, convolution::line, columns);
          }
        }
        for (std::int64_t r = 0; r < kw_least(KW_FEATURES, 8 - feature); ++r) {
          const std::int64_t channel = feature + r;
          const float m0_bias_at = m0_bias[channel];
          for (std::int64_t y = 0; y < rows; ++y) {
            const std::int64_t y2 = y;
            const float* line = sums1 + r * convolution::line + y * convolution::pitch;
#pragma GCC unroll kw_unroll
            for (std::int64_t j = 0; j + kw_lanes <= 3; j += kw_lanes) {
              const kw_vec here = kw_load(line + j);
              const kw_vec add_ = (here + m0_bias_at);
              kw_store(scratch0 + item * 192 + channel * 24 + first_row * 3 + y2 * 3 + j, add_);
            }
            if (constexpr int left1 = 3 % kw_lanes; left1 != 0) {
              const std::int64_t j1 = 3 - left1;
              const kw_vec here1 = kw_load(line + j1);
              const kw_vec add_1 = (here1 + m0_bias_at);
              kw_store_part(scratch0 + item * 192 + channel * 24 + first_row * 3 + y2 * 3 + j1, add_1, left1);
            }
          }
        }
      }
    };
    for (std::int64_t n = 0; n < 33; ++n) {
      for (std::int64_t row = 0; row < 8; row += convolution::rows) {
        convolve(n, row);
      }
    }
  }
  // rows: gelu
  const float inverse = 1.0f / 33.0f;
  for (std::int64_t row1 = 0; row1 < 192; ++row1) {
    kw_moments moments;
    const float scratch0_at1 = scratch0[row1];
    for (std::int64_t block = 0; block < 33; block += 1024) {
      const std::int64_t end1 = block + 1024 < 33 ? block + 1024 : 33;
      kw_vec sums2[4] = {};
      float rest3 = 0.0f;
      for (std::int64_t j2 = block; j2 + 4 * kw_lanes <= end1; j2 += 4 * kw_lanes) {
#pragma GCC unroll 4
        for (int u1 = 0; u1 < 4; ++u1) {
          const std::int64_t at1 = j2 + u1 * kw_lanes;
          const kw_vec scratch0_at = kw_gather(scratch0 + at1 * 192 + row1, 192);
          const kw_vec sub_ = (scratch0_at - scratch0_at1);
          sums2[u1] += sub_;
        }
      }
      for (std::int64_t j3 = block + (end1 - block) / (4 * kw_lanes) * (4 * kw_lanes); j3 + kw_lanes <= end1; j3 += kw_lanes) {
        const kw_vec scratch0_at2 = kw_gather(scratch0 + j3 * 192 + row1, 192);
        const kw_vec sub_1 = (scratch0_at2 - scratch0_at1);
        sums2[0] += sub_1;
      }
      for (std::int64_t j4 = block + (end1 - block) / kw_lanes * kw_lanes; j4 < end1; ++j4) {
        const float scratch0_at3 = scratch0[j4 * 192 + row1];
        const float sub_2 = (scratch0_at3 - scratch0_at1);
        rest3 += sub_2;
      }
      const double total = double(kw_sum((sums2[0] + sums2[1]) + (sums2[2] + sums2[3]))) + rest3;
      const float block_mean = float(total / double(end1 - block));
      kw_vec squares[4] = {};
      float rest4 = 0.0f;
      for (std::int64_t j5 = block; j5 + 4 * kw_lanes <= end1; j5 += 4 * kw_lanes) {
#pragma GCC unroll 4
        for (int u2 = 0; u2 < 4; ++u2) {
          const std::int64_t at2 = j5 + u2 * kw_lanes;
          const kw_vec scratch0_at4 = kw_gather(scratch0 + at2 * 192 + row1, 192);
          const kw_vec sub_3 = (scratch0_at4 - scratch0_at1);
          const kw_vec apart = sub_3 - block_mean;
          squares[u2] += apart * apart;
        }
      }
      for (std::int64_t j6 = block + (end1 - block) / (4 * kw_lanes) * (4 * kw_lanes); j6 + kw_lanes <= end1; j6 += kw_lanes) {
        const kw_vec scratch0_at5 = kw_gather(scratch0 + j6 * 192 + row1, 192);
        const kw_vec sub_4 = (scratch0_at5 - scratch0_at1);
        const kw_vec apart1 = sub_4 - block_mean;
        squares[0] += apart1 * apart1;
      }
      for (std::int64_t j7 = block + (end1 - block) / kw_lanes * kw_lanes; j7 < end1; ++j7) {
        const float scratch0_at6 = scratch0[j7 * 192 + row1];
        const float sub_5 = (scratch0_at6 - scratch0_at1);
        const float apart2 = sub_5 - block_mean;
        rest4 += apart2 * apart2;
      }
      const double total1 = double(kw_sum((squares[0] + squares[1]) + (squares[2] + squares[3]))) + rest4;
      moments.add(double(end1 - block), total / double(end1 - block), total1);
    }
    const float div_ = (float(moments.squares) * inverse);
    for (std::int64_t k = 0; k < 33; ++k) {
      const float scratch0_at7 = scratch0[k * 192 + row1];
      const float sub_6 = (scratch0_at7 - div_);
      out[k * 192 + row1] = kw_gelu(sub_6);
    }
  }
}
