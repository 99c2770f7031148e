// Scalars of every kind arrive by value.
// kw:launch affine groups=x_dim0 local=x_dim1
__kernel void affine(__global const float* x, double scale, long offset, int negate, __global float* out) {
  const int i = get_global_id(0);
  const float y = x[i] * (float)scale + (float)offset;
  out[i] = negate ? -y : y;
}
