#include "problem.h"

// A work-item for each row.
// kw:launch kw_kernel groups=x_dim0 local=1
__kernel void kw_kernel(__global const float* x, __global float* out) {
  const int row = get_global_id(0);
  double sum = 0.0;
  for (int j = 0; j < x_dim1; ++j) sum += x[row * x_dim1 + j];
  out[row] = (float)(sum / x_dim1);
}
