#include "../check.h"

// A block a row; vector loads, mean and variance by two reductions in shared memory.
template <int Threads>
__device__ float block_sum(float v) {
  __shared__ float parts[Threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int i = 0; i < Threads / 32; ++i) v += parts[i];
  __syncthreads();
  return v;
}

template <int Threads>
__global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ y,
                           int columns, float epsilon) {
  const float4* row = reinterpret_cast<const float4*>(x + static_cast<size_t>(blockIdx.x) * columns);
  float sum = 0;
  for (int i = threadIdx.x; i < columns / 4; i += Threads) {
    const float4 v = row[i];
    sum += v.x + v.y + v.z + v.w;
  }
  const float mean = block_sum<Threads>(sum) / columns;
  float squares = 0;
  for (int i = threadIdx.x; i < columns / 4; i += Threads) {
    const float4 v = row[i];
    squares += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean) + (v.z - mean) * (v.z - mean) + (v.w - mean) * (v.w - mean);
  }
  const float scale = rsqrtf(block_sum<Threads>(squares) / columns + epsilon);
  for (int i = threadIdx.x; i < columns; i += Threads)
    y[blockIdx.x * columns + i] = (x[blockIdx.x * columns + i] - mean) * scale * gamma[i] + beta[i];
}

int main() {
  const int rows = 9, columns = 260;
  Numbers numbers;
  auto x = numbers.floats(rows * columns), gamma = numbers.floats(columns), beta = numbers.floats(columns);
  std::vector<double> want(x.size());
  for (int r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int i = 0; i < columns; ++i) mean += x[r * columns + i] / static_cast<double>(columns);
    for (int i = 0; i < columns; ++i) variance += (x[r * columns + i] - mean) * (x[r * columns + i] - mean) / columns;
    for (int i = 0; i < columns; ++i) want[r * columns + i] = (x[r * columns + i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
  }
  OnDevice<float> dx(x), dg(gamma), db(beta), dy(x.size());
  layer_norm<128><<<rows, 128>>>(dx.data, dg.data, db.data, dy.data, columns, 1e-5f);
  expect_all_close(dy.host(), want, 1e-5, "y");
  return finish();
}
