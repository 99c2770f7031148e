#include "../check.h"

// Sparse matrix times vector: a warp a row, rows of very different lengths.
__global__ void spmv(const int* begins, const int* columns, const float* values, const float* x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begins[row] + lane; i < begins[row + 1]; i += 32) sum += values[i] * __ldg(&x[columns[i]]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}

int main() {
  const int rows = 90, width = 400;
  Numbers numbers;
  std::vector<int> begins{0}, columns;
  std::vector<float> values;
  auto x = numbers.floats(width);
  std::vector<double> want(rows, 0);
  for (int r = 0; r < rows; ++r) {
    const int count = static_cast<int>(numbers.bits() >> 28) * (r % 5);
    for (int i = 0; i < count; ++i) {
      columns.push_back(static_cast<int>((numbers.bits() >> 8) % width));
      values.push_back(numbers.around());
      want[r] += static_cast<double>(values.back()) * x[columns.back()];
    }
    begins.push_back(static_cast<int>(columns.size()));
  }
  OnDevice<int> db(begins), dc(columns);
  OnDevice<float> dv(values), dx(x), dy(rows);
  spmv<<<(rows * 32 + 127) / 128, 128>>>(db.data, dc.data, dv.data, dx.data, dy.data, rows);
  expect_all_close(dy.host(), want, 1e-5, "y");
  return finish();
}
