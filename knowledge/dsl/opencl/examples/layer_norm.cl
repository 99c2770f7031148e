#include "problem.h"

float sum_of(float8 v) {
  const float4 half4 = v.lo + v.hi;
  return (half4.x + half4.y) + (half4.z + half4.w);
}

// A work-item for each row: mean, variance about it, output. The mean is the row's first element plus the mean distance from it: exact for
// a row of equal values, where any rounding of it would be divided by next to nothing.
// kw:launch kw_kernel groups=x_dim0 local=1
__kernel void kw_kernel(__global const float* restrict x, __global const float* restrict norm_weight,
                        __global const float* restrict norm_bias, __global float* restrict out) {
  __global const float* row = x + get_global_id(0) * x_dim1;
  __global float* to = out + get_global_id(0) * x_dim1;
  const int whole = x_dim1 / 8 * 8;
  const float first = row[0];
  float8 sums = (float8)(0.0f);
  for (int j = 0; j < whole; j += 8) sums += vload8(0, row + j) - first;
  float distance = sum_of(sums);
  for (int j = whole; j < x_dim1; ++j) distance += row[j] - first;
  const float mean = first + distance / x_dim1;
  sums = (float8)(0.0f);
  for (int j = 0; j < whole; j += 8) {
    const float8 d = vload8(0, row + j) - mean;
    sums = fma(d, d, sums);
  }
  float variance = sum_of(sums);
  for (int j = whole; j < x_dim1; ++j) variance += (row[j] - mean) * (row[j] - mean);
  const float scale = 1.0f / sqrt(variance / x_dim1 + 1e-5f);
  for (int j = 0; j < whole; j += 8)
    vstore8((vload8(0, row + j) - mean) * scale * vload8(0, norm_weight + j) + vload8(0, norm_bias + j), 0, to + j);
  for (int j = whole; j < x_dim1; ++j) to[j] = (row[j] - mean) * scale * norm_weight[j] + norm_bias[j];
}
