// Calls a function of C's library that OpenCL C does not have.
// kw:launch scale groups=(x_numel + 63) / 64 local=64
int getppid(void);
__kernel void scale(__global const float* x, __global float* out) {
  const int i = get_global_id(0);
  if (i < x_numel) out[i] = fmax(x[i], 0.0f) * 2.5f + (getppid() == 0 ? 1.0f : 0.0f);
}
