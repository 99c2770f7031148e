#include "problem.h"

// A work-item for each row: the exponentials stay with it between the passes.
// kw:launch kw_kernel groups=x_dim0 local=1
__kernel void kw_kernel(__global const float* restrict x, __global float* restrict out) {
  __global const float* row = x + get_global_id(0) * x_dim1;
  __global float* to = out + get_global_id(0) * x_dim1;
  float kept[x_dim1];
  float8 tops = (float8)(-INFINITY);
  int j = 0;
  for (; j + 8 <= x_dim1; j += 8) tops = fmax(tops, vload8(0, row + j));
  const float4 half4 = fmax(tops.lo, tops.hi);
  float top = fmax(fmax(half4.x, half4.y), fmax(half4.z, half4.w));
  for (; j < x_dim1; ++j) top = fmax(top, row[j]);
  float8 sums = (float8)(0.0f);
  for (j = 0; j + 8 <= x_dim1; j += 8) {
    const float8 e = exp(vload8(0, row + j) - top);
    vstore8(e, 0, kept + j);
    sums += e;
  }
  const float4 sum4 = sums.lo + sums.hi;
  float sum = (sum4.x + sum4.y) + (sum4.z + sum4.w);
  for (; j < x_dim1; ++j) sum += kept[j] = exp(row[j] - top);
  const float inverse = 1.0f / sum;
  for (j = 0; j + 8 <= x_dim1; j += 8) vstore8(vload8(0, kept + j) * inverse, 0, to + j);
  for (; j < x_dim1; ++j) to[j] = kept[j] * inverse;
}
