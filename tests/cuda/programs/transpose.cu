#include "../check.h"

constexpr int kTile = 32, kRows = 8;

// Through shared memory with a column of padding; any size.
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int row = 0; row < kTile; row += kRows)
    if (x < width && y + row < height) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int row = 0; row < kTile; row += kRows)
    if (x < height && y + row < width) out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
}

int main() {
  const int width = 100, height = 67;
  Numbers numbers;
  auto in = numbers.floats(width * height);
  std::vector<float> want(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) want[x * height + y] = in[y * width + x];
  OnDevice<float> din(in), dout(in.size());
  transpose<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(kTile, kRows)>>>(din.data, dout.data, width, height);
  expect_all_close(dout.host(), want, 0, "transposed");
  return finish();
}
