#include "../check.h"

// Convolution 3x3 over images with several channels; a thread an output, weights in shared memory.
__global__ void convolve(const float* in, const float* weights, const float* bias, float* out, int channels, int filters, int size) {
  extern __shared__ float w[];
  const int filter = blockIdx.z % filters, image = blockIdx.z / filters;
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < channels * 9; i += threads) w[i] = weights[filter * channels * 9 + i];
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  float sum = bias[filter];
  for (int c = 0; c < channels; ++c)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (x + dx >= 0 && x + dx < size && y + dy >= 0 && y + dy < size)
          sum = fmaf(in[((image * channels + c) * size + y + dy) * size + x + dx], w[c * 9 + (dy + 1) * 3 + dx + 1], sum);
  out[((image * filters + filter) * size + y) * size + x] = fmaxf(sum, 0.0f);
}

int main() {
  const int images = 2, channels = 3, filters = 4, size = 13;
  Numbers numbers;
  auto in = numbers.floats(images * channels * size * size), weights = numbers.floats(filters * channels * 9), bias = numbers.floats(filters);
  std::vector<double> want(images * filters * size * size);
  for (int n = 0; n < images; ++n)
    for (int f = 0; f < filters; ++f)
      for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
          double sum = bias[f];
          for (int c = 0; c < channels; ++c)
            for (int dy = -1; dy <= 1; ++dy)
              for (int dx = -1; dx <= 1; ++dx)
                if (x + dx >= 0 && x + dx < size && y + dy >= 0 && y + dy < size)
                  sum += static_cast<double>(in[((n * channels + c) * size + y + dy) * size + x + dx]) * weights[(f * channels + c) * 9 + (dy + 1) * 3 + dx + 1];
          want[((n * filters + f) * size + y) * size + x] = std::max(sum, 0.0);
        }
  OnDevice<float> di(in), dw(weights), db(bias), out(want.size());
  convolve<<<dim3(2, 2, images * filters), dim3(8, 8), channels * 9 * sizeof(float)>>>(di.data, dw.data, db.data, out.data, channels, filters, size);
  expect_all_close(out.host(), want, 1e-5, "out");
  return finish();
}
