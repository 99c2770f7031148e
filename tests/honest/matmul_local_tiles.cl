// Tiles in local memory with barriers, as for a GPU.
// kw:launch multiply global=b_dim1, a_dim0 local=16, 16
__kernel void multiply(__global const float* a, __global const float* b, __global float* out) {
  __local float left[16][16], right[16][16];
  const int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < a_dim1; k += 16) {
    left[y][x] = a[row * a_dim1 + k + x];
    right[y][x] = b[(k + y) * b_dim1 + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < 16; ++step) sum = fma(left[y][step], right[step][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[row * b_dim1 + column] = sum;
}
