// Computes gelu, chunk, flip, expand, linear, gelu.
#include "problem.h"

#include <cmath>

template <class T>
static inline T kw_gelu(T x) {
  return T(0.5) * x * std::erfc(x * T(-0.7071067811865476));
}

template <class T>
static inline T kw_sigmoid(T x) {
  const T e = std::exp(x < T(0) ? x : -x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

template <class T>
static inline T kw_gelu_tanh(T x) {
  return x * kw_sigmoid(x * (T(1.5957691216057308) + T(0.07135481627260025) * x * x));
}

alignas(64) static float scratch0[4];

extern "C" void kw_kernel(const float* x0, const float* m0_weight, const float* m0_bias, float* __restrict out0,
                          float* __restrict out1) {
  // naive: gelu
  for (std::int64_t i = 0; i < 4; ++i) {
    const float gelu_tanh_ = kw_gelu_tanh(x0[i]);
    scratch0[i] = gelu_tanh_;
  }
  // naive: expand
  for (std::int64_t i1 = 0; i1 < 3; ++i1) {
    for (std::int64_t i2 = 0; i2 < 2; ++i2) {
      const float scratch0_at = scratch0[-i2 + 1];
      out1[i1 * 2 + i2] = scratch0_at;
    }
  }
  // naive: linear
  for (std::int64_t i3 = 0; i3 < 1; ++i3) {
    for (std::int64_t i4 = 0; i4 < 3; ++i4) {
      for (std::int64_t i5 = 0; i5 < 16; ++i5) {
        double dot = 0.0;
        for (std::int64_t k = 0; k < 2; ++k) {
          const float scratch0_at1 = scratch0[-k + 1];
          const float m0_weight_at = m0_weight[i5 * 2 + k];
          dot += double(scratch0_at1) * m0_weight_at;
        }
        out0[i4 * 16 + i5] = float(dot);
      }
    }
  }
  // naive: linear
  for (std::int64_t i6 = 0; i6 < 3; ++i6) {
    for (std::int64_t i7 = 0; i7 < 16; ++i7) {
      out0[i6 * 16 + i7] = (out0[i6 * 16 + i7] + m0_bias[i7]);
    }
  }
  // naive: gelu_1
  for (std::int64_t i8 = 0; i8 < 3; ++i8) {
    for (std::int64_t i9 = 0; i9 < 16; ++i9) {
      out0[i8 * 16 + i9] = kw_gelu(out0[i8 * 16 + i9]);
    }
  }
}
