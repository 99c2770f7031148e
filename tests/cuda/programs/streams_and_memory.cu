#include <cstring>

#include "../check.h"

// What host code does around kernels: streams, events, pinned, managed and pitched memory, callbacks, attributes, errors.
__managed__ int managed_counter = 5;
__device__ float device_value = 1.5f;

__global__ void fill(float* data, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value * i;
}
__global__ void fill_pitched(char* data, size_t pitch, int width, int height) {
  if (threadIdx.x < width && blockIdx.x < height)
    *reinterpret_cast<float*>(data + blockIdx.x * pitch + threadIdx.x * sizeof(float)) = blockIdx.x * 100 + threadIdx.x;
}
__global__ void count(int* pinned, int* managed) {
  atomicAdd(pinned, 1);
  atomicAdd(managed, 2);
  atomicAdd(&managed_counter, 3);
  if (threadIdx.x == 0 && blockIdx.x == 0) device_value *= 2;
}

int main() {
  int devices = 0, sms = 0;
  cudaDeviceProp properties{};
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  expect_close(sms, properties.multiProcessorCount, 0, "sms", 0);
  if (devices != 1 || properties.warpSize != 32 || properties.major < 7 || std::strstr(properties.name, "NVIDIA") == nullptr) ++wrong_values;

  const int n = 1000;
  cudaStream_t streams[2];
  cudaEvent_t start, end;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&end));
  float* pinned = nullptr;
  CHECK_CUDA(cudaMallocHost(&pinned, 2 * n * sizeof(float)));
  OnDevice<float> data(2 * n);
  CHECK_CUDA(cudaEventRecord(start));
  for (int s = 0; s < 2; ++s) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    fill<<<4, 256, 0, streams[s]>>>(data.data + s * n, n, s + 1.0f);
    CHECK_CUDA(cudaMemcpyAsync(pinned + s * n, data.data + s * n, n * sizeof(float), cudaMemcpyDeviceToHost, streams[s]));
  }
  CHECK_CUDA(cudaEventRecord(end, streams[1]));
  CHECK_CUDA(cudaStreamWaitEvent(streams[0], end, 0));
  int called = 0;
  CHECK_CUDA(cudaLaunchHostFunc(streams[0], [](void* p) { ++*static_cast<int*>(p); }, &called));
  for (cudaStream_t stream : streams) CHECK_CUDA(cudaStreamSynchronize(stream));
  float milliseconds = -1;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  if (milliseconds < 0 || called != 1) ++wrong_values;
  for (int i = 0; i < 2 * n; ++i) expect_close(pinned[i], (i / n + 1.0f) * (i % n), 0, "pinned", i);

  char* pitched = nullptr;
  size_t pitch = 0;
  CHECK_CUDA(cudaMallocPitch(&pitched, &pitch, 30 * sizeof(float), 5));
  CHECK_CUDA(cudaMemset2D(pitched, pitch, 0, 30 * sizeof(float), 5));
  fill_pitched<<<5, 32>>>(pitched, pitch, 30, 5);
  float rows[5][30];
  CHECK_CUDA(cudaMemcpy2D(rows, sizeof rows[0], pitched, pitch, sizeof rows[0], 5, cudaMemcpyDeviceToHost));
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 30; ++c) expect_close(rows[r][c], r * 100 + c, 0, "pitched", r * 30 + c);

  int *counter = nullptr, *managed = nullptr;
  CHECK_CUDA(cudaHostAlloc(&counter, sizeof(int), cudaHostAllocMapped));
  CHECK_CUDA(cudaMallocManaged(&managed, sizeof(int)));
  *counter = 0;
  *managed = 10;
  int* mapped = nullptr;
  CHECK_CUDA(cudaHostGetDevicePointer(&mapped, counter, 0));
  count<<<2, 64>>>(mapped, managed);
  const cudaError_t synchronised = cudaDeviceSynchronize();
  CHECK_CUDA(synchronised);
  expect_close(*counter, 128, 0, "counter", 0);
  expect_close(*managed, 10 + 256, 0, "managed", 0);
  expect_close(managed_counter, 5 + 384, 0, "managed_counter", 0);
  float value = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&value, device_value, sizeof value));
  expect_close(value, 3.0, 0, "device_value", 0);

  cudaPointerAttributes attributes{};
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, data.data));
  if (attributes.type != cudaMemoryTypeDevice) ++wrong_values;
  fill<<<1, 2000>>>(data.data, n, 1.0f);  // too many threads
  if (cudaPeekAtLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaErrorInvalidConfiguration) ++wrong_values;
  if (cudaGetLastError() != cudaSuccess) ++wrong_values;  // it was not sticky
  cudaFuncAttributes function{};
  CHECK_CUDA(cudaFuncGetAttributes(&function, fill));
  if (function.maxThreadsPerBlock != 1024 || function.numRegs < 1) ++wrong_values;
  int grid = 0, block = 0;
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill));
  if (grid < sms || block < 32) ++wrong_values;
  for (cudaStream_t stream : streams) CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaFreeHost(counter));
  CHECK_CUDA(cudaFree(managed));
  CHECK_CUDA(cudaFree(pitched));
  return finish();
}
