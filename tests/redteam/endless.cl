// Never ends.
// kw:launch forever groups=2 local=1
__kernel void forever(__global const float* x, __global float* out) {
  volatile int on = 1;
  while (on) out[0] = x[0];
}
