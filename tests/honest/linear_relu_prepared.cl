// The weights are turned round once for each set of them.
// kw:scratch turned float linear_weight_numel
// kw:prepare turn global=linear_weight_dim0, linear_weight_dim1 local=1, 1
__kernel void turn(__global const float* linear_weight, __global float* turned) {
  const int o = get_global_id(0), i = get_global_id(1);
  turned[i * linear_weight_dim0 + o] = linear_weight[o * linear_weight_dim1 + i];
}
// kw:launch multiply global=out_dim1 / 8, out_dim0 local=1, 1
__kernel void multiply(__global const float* x, __global const float* turned, __global const float* linear_bias, __global float* out) {
  const int o = get_global_id(0) * 8, row = get_global_id(1);
  float8 sum = (float8)(0.0f);
  for (int k = 0; k < x_dim1; ++k) sum = fma((float8)(x[row * x_dim1 + k]), vload8(0, turned + k * out_dim1 + o), sum);
  vstore8(fmax(sum + vload8(0, linear_bias + o), 0.0f), 0, out + row * out_dim1 + o);
}
