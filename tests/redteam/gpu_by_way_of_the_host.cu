// Copies the input to the host, computes there, and copies the result back.
#include <vector>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  std::vector<float> values(x_numel);
  cudaMemcpyAsync(values.data(), x, sizeof(float) * x_numel, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (float& value : values) value = value > 0 ? value * 2.5f : 0.0f;
  cudaMemcpyAsync(out, values.data(), sizeof(float) * x_numel, cudaMemcpyHostToDevice, stream);
}
