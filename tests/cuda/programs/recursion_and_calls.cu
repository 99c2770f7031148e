#include "../check.h"

// Calls that stay calls: recursion, function pointers, virtual functions, arrays in local memory, a switch.
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ float twice(float x) { return 2 * x; }
__device__ float square(float x) { return x * x; }
using Function = float (*)(float);
__device__ Function table[2] = {twice, square};

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Circle : Shape {
  float r;
  __device__ explicit Circle(float r) : r(r) {}
  __device__ float area() const override { return 3.0f * r * r; }
};
struct Box : Shape {
  float a, b;
  __device__ Box(float a, float b) : a(a), b(b) {}
  __device__ float area() const override { return a * b; }
};

__device__ int classify(int i) {
  switch (i % 7) {
    case 0: return i + 10;
    case 1: return i * 3;
    case 2: return -i;
    case 3: return i / 2;
    case 4: return i ^ 0x55;
    case 5: return i << 2;
    default: return 7;
  }
}

__global__ void compute(int* fib, float* applied, float* areas, int* classes, int* sorted) {
  const int i = threadIdx.x;
  fib[i] = fibonacci(i % 12);
  applied[i] = table[i % 2](i * 0.5f);
  const Circle circle(i);
  const Box box(i, 2);
  const Shape* shape = i % 3 == 0 ? static_cast<const Shape*>(&circle) : &box;
  areas[i] = shape->area();
  classes[i] = classify(i);
  int values[9];
  for (int j = 0; j < 9; ++j) values[j] = (i * 7 + j * 5) % 11;
  for (int j = 1; j < 9; ++j)
    for (int k = j; k > 0 && values[k - 1] > values[k]; --k) {
      const int swap = values[k];
      values[k] = values[k - 1];
      values[k - 1] = swap;
    }
  sorted[i] = values[i % 9];
}

int main() {
  const int n = 64;
  OnDevice<int> fib(n), classes(n), sorted(n);
  OnDevice<float> applied(n), areas(n);
  CHECK_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  compute<<<1, n>>>(fib.data, applied.data, areas.data, classes.data, sorted.data);
  const auto f = fib.host(), c = classes.host(), s = sorted.host();
  const auto a = applied.host(), r = areas.host();
  const int fibs[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int i = 0; i < n; ++i) {
    const int classed[7] = {i + 10, i * 3, -i, i / 2, i ^ 0x55, i << 2, 7};
    int values[9], smaller = 0;
    for (int j = 0; j < 9; ++j) values[j] = (i * 7 + j * 5) % 11;
    for (int j = 0; j < 9; ++j) smaller += values[j] < s[i];
    int equal = 0;
    for (int j = 0; j < 9; ++j) equal += values[j] == s[i];
    if (smaller > i % 9 || smaller + equal <= i % 9) ++wrong_values;
    expect_close(f[i], fibs[i % 12], 0, "fibonacci", i);
    expect_close(a[i], i % 2 ? i * 0.5 * i * 0.5 : i, 0, "applied", i);
    expect_close(r[i], i % 3 == 0 ? 3.0 * i * i : 2.0 * i, 0, "area", i);
    expect_close(c[i], classed[i % 7], 0, "class", i);
  }
  return finish();
}
