// What the programs here share: checked calls, numbers that are the same on every machine, and comparison with the host.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                      \
  do {                                                                                        \
    const cudaError_t status_ = (call);                                                       \
    if (status_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
      std::exit(1);                                                                           \
    }                                                                                         \
  } while (false)

struct Numbers {
  unsigned state = 12345;
  unsigned bits() { return state = state * 1664525u + 1013904223u; }
  float unit() { return static_cast<float>(bits() >> 8) / 16777216.0f; }  // 0 to 1
  float around() { return unit() * 2 - 1; }                               // -1 to 1
  std::vector<float> floats(std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = around();
    return v;
  }
};

template <typename T>
struct OnDevice {
  T* data = nullptr;
  std::size_t size = 0;
  explicit OnDevice(std::size_t n) : size(n) { CHECK_CUDA(cudaMalloc(&data, n * sizeof(T))); }
  explicit OnDevice(const std::vector<T>& v) : OnDevice(v.size()) {
    CHECK_CUDA(cudaMemcpy(data, v.data(), size * sizeof(T), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> v(size);
    CHECK_CUDA(cudaMemcpy(v.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

inline int wrong_values = 0;

inline void expect_close(double got, double want, double tolerance, const char* what, std::size_t at) {
  if (std::fabs(got - want) <= tolerance * (1 + std::fabs(want))) return;
  if (wrong_values++ < 5) std::printf("%s[%zu] is %.9g and should be %.9g\n", what, at, got, want);
}
template <typename A, typename B>
void expect_all_close(const std::vector<A>& got, const std::vector<B>& want, double tolerance, const char* what) {
  if (got.size() != want.size()) std::printf("%s has %zu values\n", what, got.size()), ++wrong_values;
  for (std::size_t i = 0; i < got.size() && i < want.size(); ++i)
    expect_close(static_cast<double>(got[i]), static_cast<double>(want[i]), tolerance, what, i);
}

inline int finish() {
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf(wrong_values == 0 ? "ok\n" : "%d values are wrong\n", wrong_values);
  return wrong_values == 0 ? 0 : 1;
}
