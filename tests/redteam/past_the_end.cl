// Right, and writes a little past the output's end.
// kw:launch scale groups=(x_numel + 63) / 64 local=64
__kernel void scale(__global const float* x, __global float* out) {
  const int i = get_global_id(0);
  out[i] = i < x_numel ? fmax(x[i], 0.0f) * 2.5f : 0.0f;
}
