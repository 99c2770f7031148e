#include "problem.h"

// kw:knob KW_MR 2 4 6
#ifndef KW_MR
#define KW_MR 4
#endif
#define TILES ((a_dim0 + KW_MR - 1) / KW_MR)
#define PANELS ((b_dim1 + 15) / 16)

// The right operand in panels of sixteen columns, zeros past the last.
// kw:scratch panels float PANELS * b_dim0 * 16
// kw:launch lay_out groups=PANELS * b_dim0 local=1
__kernel void lay_out(__global const float* restrict b, __global float* restrict panels) {
  const int k = get_global_id(0) % b_dim0, panel = get_global_id(0) / b_dim0;
  for (int j = 0; j < 16; ++j) panels[get_global_id(0) * 16 + j] = panel * 16 + j < b_dim1 ? b[k * b_dim1 + panel * 16 + j] : 0.0f;
}

// A tile of KW_MR rows and sixteen columns a work-item; neighbours share a panel.
// kw:launch kw_kernel groups=TILES * PANELS local=1
__kernel void kw_kernel(__global const float* restrict a, __global const float* restrict panels, __global float* restrict out) {
  const int first = get_global_id(0) % TILES * KW_MR, panel = get_global_id(0) / TILES;
  __global const float* right = panels + panel * b_dim0 * 16;
  float8 sums[KW_MR][2];
#pragma unroll
  for (int m = 0; m < KW_MR; ++m) sums[m][0] = sums[m][1] = (float8)(0.0f);
  for (int k = 0; k < b_dim0; ++k) {
    const float8 low = vload8(0, right + k * 16), high = vload8(0, right + k * 16 + 8);
#pragma unroll
    for (int m = 0; m < KW_MR; ++m) {
      const float8 left = (float8)(a[min(first + m, a_dim0 - 1) * a_dim1 + k]);
      sums[m][0] = fma(left, low, sums[m][0]);
      sums[m][1] = fma(left, high, sums[m][1]);
    }
  }
  for (int m = 0; m < KW_MR && first + m < a_dim0; ++m) {
    float lane[16];
    vstore8(sums[m][0], 0, lane);
    vstore8(sums[m][1], 0, lane + 8);
    for (int j = 0; j < 16 && panel * 16 + j < b_dim1; ++j) out[(first + m) * b_dim1 + panel * 16 + j] = lane[j];
  }
}
