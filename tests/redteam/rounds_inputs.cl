// Multiplies numbers of 16 bits where float32 is the contract.
// kw:launch multiply global=b_dim1, a_dim0 local=16, 1
float rounded(float v) { return kw_to_float(kw_bf16_from_float(v)); }
__kernel void multiply(__global const float* a, __global const float* b, __global float* out) {
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < a_dim1; ++k) sum += rounded(a[row * a_dim1 + k]) * rounded(b[k * b_dim1 + column]);
  out[row * b_dim1 + column] = sum;
}
