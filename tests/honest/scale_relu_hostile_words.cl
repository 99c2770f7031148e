// Words that a text screen would refuse stand in comments and names only: printf("x"); asm("nop"); enqueue_kernel.
// kw:launch scale groups=(x_numel + 63) / 64 local=64
float printf_free(float asm_less) { return fmax(asm_less, 0.0f); }  // no write_pipe either
__kernel void scale(__global const float* x, __global float* out) {
  const int constructor_of_rows = get_global_id(0);
  if (constructor_of_rows < x_numel) out[constructor_of_rows] = printf_free(x[constructor_of_rows]) * 2.5f;
}
