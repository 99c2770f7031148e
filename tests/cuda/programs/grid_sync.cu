#include <cooperative_groups.h>

#include "../check.h"

namespace cg = cooperative_groups;

// A cooperative launch: all blocks meet between two phases.
__global__ void two_phases(float* data, float* sums, int n) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ float part[128];
  const int i = grid.thread_rank();
  part[threadIdx.x] = i < n ? data[i] : 0;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
  grid.sync();
  float total = 0;
  for (int block = 0; block < gridDim.x; ++block) total += sums[block];
  if (i < n) data[i] /= total;
}

int main() {
  int n = 1000;
  Numbers numbers;
  std::vector<float> data(n);
  double total = 0;
  for (float& v : data) total += v = numbers.unit() + 0.1f;
  std::vector<double> want(n);
  for (int i = 0; i < n; ++i) want[i] = data[i] / total;
  OnDevice<float> device(data), sums(8);
  int blocks = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, two_phases, 128, 0));
  if (blocks < 1) std::printf("it does not fit\n"), ++wrong_values;
  void* args[] = {&device.data, &sums.data, &n};
  CHECK_CUDA(cudaLaunchCooperativeKernel(two_phases, dim3(8), dim3(128), args, 0, nullptr));
  expect_all_close(device.host(), want, 1e-5, "data");
  return finish();
}
