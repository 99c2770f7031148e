// An int64 output.
// kw:launch place groups=x_dim0 local=1
__kernel void place(__global const float* x, __global long* out) {
  const int row = get_global_id(0);
  int best = 0;
  for (int j = 1; j < x_dim1; ++j)
    if (x[row * x_dim1 + j] > x[row * x_dim1 + best]) best = j;
  out[row] = best;
}
