#include "problem.h"

// A work-item for each element: columns in dimension 0, rows in dimension 1.
// kw:launch kw_kernel global=b_dim1, a_dim0 local=16, 1
__kernel void kw_kernel(__global const float* a, __global const float* b, __global float* out) {
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < a_dim1; ++k) sum += a[row * a_dim1 + k] * b[k * b_dim1 + column];
  out[row * b_dim1 + column] = sum;
}
