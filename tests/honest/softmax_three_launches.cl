// Each pass is a launch of its own; what they share is scratch.
// kw:scratch tops float x_dim0
// kw:scratch sums float x_dim0
// kw:launch greatest groups=x_dim0 local=1
__kernel void greatest(__global const float* x, __global float* tops) {
  const int row = get_global_id(0);
  float top = -INFINITY;
  for (int j = 0; j < x_dim1; ++j) top = fmax(top, x[row * x_dim1 + j]);
  tops[row] = top;
}
// kw:launch add(x, tops, sums) groups=x_dim0 local=1
__kernel void add(__global const float* from, __global const float* top, __global float* to) {
  const int row = get_global_id(0);
  double sum = 0;
  for (int j = 0; j < x_dim1; ++j) sum += exp(from[row * x_dim1 + j] - top[row]);
  to[row] = (float)sum;
}
// kw:launch divide(x, tops, sums, out, x_dim1) global=x_dim1, x_dim0 local=x_dim1 / 17, 2
__kernel void divide(__global const float* x, __global const float* tops, __global const float* sums, __global float* out, int columns) {
  const int row = get_global_id(1), i = row * columns + get_global_id(0);
  out[i] = exp(x[i] - tops[row]) / sums[row];
}
