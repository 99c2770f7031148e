#include "problem.h"

// A work-item for each row, four vectors of partial sums.
// kw:launch kw_kernel groups=x_dim0 local=1
__kernel void kw_kernel(__global const float* restrict x, __global float* restrict out) {
  __global const float* row = x + get_global_id(0) * x_dim1;
  float8 sums[4] = {(float8)(0.0f), (float8)(0.0f), (float8)(0.0f), (float8)(0.0f)};
  int j = 0;
  for (; j + 32 <= x_dim1; j += 32)
    for (int u = 0; u < 4; ++u) sums[u] += vload8(0, row + j + 8 * u);
  const float8 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  const float4 half4 = all.lo + all.hi;
  float sum = (half4.x + half4.y) + (half4.z + half4.w);
  for (; j < x_dim1; ++j) sum += row[j];
  out[get_global_id(0)] = sum / x_dim1;
}
