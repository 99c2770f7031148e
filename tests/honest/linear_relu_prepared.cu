// The weight is transposed once on the device, in kw_prepare.
#include "problem.h"

constexpr int kIn = linear_weight_dim1, kOut = linear_weight_dim0;

__global__ void transpose(const float* weight, float* packed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kIn * kOut) packed[i % kIn * kOut + i / kIn] = weight[i];
}

__global__ void linear_relu(const float* packed, const float* x, const float* bias, float* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= kOut) return;
  float sum = 0;
  for (int k = 0; k < kIn; ++k) sum += x[blockIdx.y * kIn + k] * packed[k * kOut + column];
  out[blockIdx.y * kOut + column] = fmaxf(sum + bias[column], 0.0f);
}

extern "C" void* kw_prepare(const float* linear_weight, const float*) {
  void* packed = nullptr;
  if (cudaMalloc(&packed, sizeof(float) * kIn * kOut) != cudaSuccess) return nullptr;
  transpose<<<(kIn * kOut + 255) / 256, 256>>>(linear_weight, static_cast<float*>(packed));
  return packed;
}
extern "C" void kw_release(void* state) { cudaFree(state); }

extern "C" void kw_kernel(void* state, const float* x, const float*, const float* linear_bias, float* out, cudaStream_t stream) {
  linear_relu<<<dim3((kOut + 127) / 128, x_dim0), 128, 0, stream>>>(static_cast<const float*>(state), x, linear_bias, out);
}
