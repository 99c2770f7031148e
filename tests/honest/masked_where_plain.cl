// Booleans are bytes.
// kw:launch choose groups=mask_dim0 local=mask_dim1
__kernel void choose(__global const uchar* mask, __global const float* x, __global const float* y, __global float* out) {
  const int i = get_global_id(0);
  out[i] = mask[i] ? x[i] : y[i];
}
