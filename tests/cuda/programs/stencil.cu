#include "../check.h"

constexpr int kTile = 16;
__constant__ double weights[5];

// Five points on a grid in double precision: a tile with its halo in shared memory, weights in constant memory, two steps.
__global__ void stencil(const double* __restrict__ in, double* __restrict__ out, int width, int height) {
  __shared__ double tile[kTile + 2][kTile + 2];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  const auto at = [&](int column, int row) {
    column = min(max(column, 0), width - 1);
    row = min(max(row, 0), height - 1);
    return in[row * width + column];
  };
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0) tile[ty][0] = at(x - 1, y);
  if (threadIdx.x == kTile - 1) tile[ty][kTile + 1] = at(x + 1, y);
  if (threadIdx.y == 0) tile[0][tx] = at(x, y - 1);
  if (threadIdx.y == kTile - 1) tile[kTile + 1][tx] = at(x, y + 1);
  __syncthreads();
  if (x >= width || y >= height) return;
  const bool last_x = x == width - 1, last_y = y == height - 1;
  out[y * width + x] = weights[0] * tile[ty][tx] + weights[1] * tile[ty][tx - 1] + weights[2] * (last_x ? tile[ty][tx] : tile[ty][tx + 1]) +
                       weights[3] * tile[ty - 1][tx] + weights[4] * (last_y ? tile[ty][tx] : tile[ty + 1][tx]);
}

int main() {
  const int width = 45, height = 39;
  const double w[5] = {0.5, 0.15, 0.125, 0.125, 0.1};
  Numbers numbers;
  std::vector<double> grid(width * height);
  for (double& v : grid) v = numbers.around();
  OnDevice<double> a(grid), b(grid.size());
  CHECK_CUDA(cudaMemcpyToSymbol(weights, w, sizeof w));
  const dim3 blocks((width + kTile - 1) / kTile, (height + kTile - 1) / kTile), threads(kTile, kTile);
  stencil<<<blocks, threads>>>(a.data, b.data, width, height);
  stencil<<<blocks, threads>>>(b.data, a.data, width, height);
  for (int step = 0; step < 2; ++step) {
    auto next = grid;
    const auto at = [&](int x, int y) { return grid[std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)]; };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        next[y * width + x] = w[0] * at(x, y) + w[1] * at(x - 1, y) + w[2] * at(x + 1, y) + w[3] * at(x, y - 1) + w[4] * at(x, y + 1);
    grid = next;
  }
  expect_all_close(a.host(), grid, 1e-14, "grid");
  return finish();
}
