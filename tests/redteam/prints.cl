// Right, and talks.
// kw:launch scale groups=(x_numel + 63) / 64 local=64
__kernel void scale(__global const float* x, __global float* out) {
  const int i = get_global_id(0);
  if (i == 0) printf("hello\n");
  if (i < x_numel) out[i] = fmax(x[i], 0.0f) * 2.5f;
}
