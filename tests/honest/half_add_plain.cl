// Numbers of 16 bits through float.
// kw:launch add groups=(x_numel + 31) / 32 local=32
__kernel void add(__global const kw_f16* x, __global const kw_f16* y, __global kw_f16* out) {
  const int i = get_global_id(0);
  if (i < x_numel) out[i] = kw_f16_from_float(kw_to_float(x[i]) + kw_to_float(y[i]));
}
