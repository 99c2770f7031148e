// Right, and reads far past the input's end.
// kw:launch scale groups=(x_numel + 63) / 64 local=64
__kernel void scale(__global const float* x, __global float* out) {
  const int i = get_global_id(0);
  const float sample = x[x_numel + 4096 + i];
  if (i < x_numel) out[i] = fmax(x[i], 0.0f) * 2.5f + (sample > 1e38f ? 1.0f : 0.0f);
}
