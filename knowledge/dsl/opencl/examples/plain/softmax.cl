#include "problem.h"

// kw:launch kw_kernel groups=x_dim0 local=1
__kernel void kw_kernel(__global const float* x, __global float* out) {
  const int first = get_global_id(0) * x_dim1;
  float top = -INFINITY;
  for (int j = 0; j < x_dim1; ++j) top = fmax(top, x[first + j]);
  double sum = 0.0;
  for (int j = 0; j < x_dim1; ++j) sum += exp(x[first + j] - top);
  for (int j = 0; j < x_dim1; ++j) out[first + j] = exp(x[first + j] - top) / (float)sum;
}
