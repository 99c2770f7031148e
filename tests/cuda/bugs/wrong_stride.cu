#include "../check.h"

// Rows are as long as there are columns, not rows.
__global__ void scale(float* matrix, int rows, int columns) {
  const int column = threadIdx.x, row = blockIdx.x;
  if (row < rows && column < columns)
    matrix[column * columns + row] *= 2;  // expect: out_of_bounds
}

int main() {
  OnDevice<float> matrix(std::vector<float>(8 * 32, 1.0f));
  scale<<<8, 32>>>(matrix.data, 8, 32);
  return 0;
}
