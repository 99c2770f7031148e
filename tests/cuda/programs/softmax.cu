#include "../check.h"

// A warp a row, in one pass: maximum and sum together.
__global__ void softmax(const float* in, float* out, int rows, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* x = in + row * columns;
  float maximum = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) {
    const float next = fmaxf(maximum, x[i]);
    sum = sum * __expf(maximum - next) + __expf(x[i] - next);
    maximum = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_maximum = __shfl_xor_sync(0xffffffff, maximum, offset), other_sum = __shfl_xor_sync(0xffffffff, sum, offset);
    const float next = fmaxf(maximum, other_maximum);
    sum = (maximum == next ? sum : sum * __expf(maximum - next)) + (other_maximum == next ? other_sum : other_sum * __expf(other_maximum - next));
    maximum = next;
  }
  for (int i = threadIdx.x; i < columns; i += 32) out[row * columns + i] = __expf(x[i] - maximum) / sum;
}

int main() {
  const int rows = 37, columns = 201;
  Numbers numbers;
  auto x = numbers.floats(rows * columns);
  for (float& v : x) v *= 10;
  std::vector<double> want(x.size());
  for (int r = 0; r < rows; ++r) {
    double maximum = -1e30, sum = 0;
    for (int i = 0; i < columns; ++i) maximum = std::max<double>(maximum, x[r * columns + i]);
    for (int i = 0; i < columns; ++i) sum += std::exp(x[r * columns + i] - maximum);
    for (int i = 0; i < columns; ++i) want[r * columns + i] = std::exp(x[r * columns + i] - maximum) / sum;
  }
  OnDevice<float> dx(x), dy(x.size());
  softmax<<<(rows + 3) / 4, dim3(32, 4)>>>(dx.data, dy.data, rows, columns);
  expect_all_close(dy.host(), want, 1e-6, "softmax");
  return finish();
}
