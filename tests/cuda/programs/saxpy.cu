#include "../check.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 10007;
  Numbers numbers;
  auto x = numbers.floats(n), y = numbers.floats(n);
  OnDevice<float> dx(x), dy(y);
  saxpy<<<8, 256>>>(n, 2.5f, dx.data, dy.data);
  CHECK_CUDA(cudaGetLastError());
  std::vector<float> want(n);
  for (int i = 0; i < n; ++i) want[i] = std::fma(2.5f, x[i], y[i]);
  expect_all_close(dy.host(), want, 0, "y");
  return finish();
}
