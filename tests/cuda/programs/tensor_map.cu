// Boxes of tensors by tensor map: one to five dimensions, swizzles, edges on both sides, stores, and a multicast to a cluster.
#include <cstdint>

#include <cuda.h>

#include "../check.h"

constexpr int kMostBytes = 8192;

__device__ unsigned shared_address(const void* place) { return static_cast<unsigned>(__cvta_generic_to_shared(place)); }

__device__ void wait_for(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

struct Place {
  int at[5];
};

#define KW_LOAD "cp.async.bulk.tensor."
#define KW_TO ".shared::cluster.global.mbarrier::complete_tx::bytes"

template <int kRank>
__device__ void load(unsigned to, const CUtensorMap* map, unsigned barrier, Place p) {
  if constexpr (kRank == 1)
    asm volatile(KW_LOAD "1d" KW_TO " [%0], [%1, {%3}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(p.at[0]) : "memory");
  if constexpr (kRank == 2)
    asm volatile(KW_LOAD "2d" KW_TO " [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(p.at[0]), "r"(p.at[1])
                 : "memory");
  if constexpr (kRank == 3)
    asm volatile(KW_LOAD "3d" KW_TO " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(p.at[0]), "r"(p.at[1]),
                 "r"(p.at[2])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile(KW_LOAD "4d" KW_TO " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(p.at[0]),
                 "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3])
                 : "memory");
  if constexpr (kRank == 5)
    asm volatile(KW_LOAD "5d" KW_TO " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(p.at[0]),
                 "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(p.at[4])
                 : "memory");
}

// One box to shared memory, and from there as it lies to `out`.
template <int kRank>
__global__ void look(const __grid_constant__ CUtensorMap map, Place place, unsigned bytes, unsigned char* out) {
  __shared__ alignas(1024) unsigned char box[kMostBytes];
  __shared__ alignas(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes) : "memory");
    load<kRank>(shared_address(box), &map, shared_address(&barrier), place);
  }
  wait_for(shared_address(&barrier), 0);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = box[i];
}

// A box of 16 x 8 numbers from shared memory to the tensor.
__global__ void put(const __grid_constant__ CUtensorMap map, int column, int row) {
  __shared__ alignas(128) int box[8][16];
  box[threadIdx.x / 16][threadIdx.x % 16] = 1000 + static_cast<int>(threadIdx.x);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(shared_address(box)),
               "r"(column), "r"(row)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// The first block of two loads for both.
__global__ void __cluster_dims__(2) share(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int box[128];
  __shared__ alignas(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(shared_address(&barrier)) : "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (blockIdx.x == 0 && threadIdx.x == 0)
    asm volatile(KW_LOAD "1d" KW_TO ".multicast::cluster [%0], [%1, {%3}], [%2], %4;" ::"r"(shared_address(box)), "l"(&map),
                 "r"(shared_address(&barrier)), "r"(64), "h"(static_cast<unsigned short>(3))
                 : "memory");
  wait_for(shared_address(&barrier), 0);
  out[blockIdx.x * 128 + threadIdx.x] = box[threadIdx.x];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
  return reinterpret_cast<Encode>(found);
}

struct Shape {
  CUtensorMapDataType type;
  int rank, bytes;
  cuuint64_t dims[5];
  cuuint32_t box[5], steps[5];
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

cuuint64_t rows_of(const Shape& s, cuuint64_t* strides) {
  cuuint64_t bytes = s.dims[0] * s.bytes;
  bytes = (bytes + 15) / 16 * 16;
  for (int i = 1; i < s.rank; ++i) {
    strides[i - 1] = bytes;
    bytes *= s.dims[i];
  }
  return bytes;
}

CUtensorMap map_of(const Shape& s, void* data) {
  CUtensorMap map;
  cuuint64_t strides[5] = {};
  rows_of(s, strides);
  const CUresult result = encoder()(&map, s.type, s.rank, data, s.dims, strides, s.box, s.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, s.swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE, s.fill);
  if (result != CUDA_SUCCESS) std::printf("not encoded\n"), ++wrong_values;
  return map;
}

// Byte by byte: where each element of the box comes from, and where the swizzle puts it.
template <int kRank>
void try_box(const Shape& s, Place place, const char* what) {
  cuuint64_t strides[5] = {};
  std::vector<unsigned char> tensor(rows_of(s, strides));
  Numbers numbers;
  for (auto& byte : tensor) byte = static_cast<unsigned char>(numbers.bits() >> 24);
  unsigned count[5] = {1, 1, 1, 1, 1}, elements = 1;
  for (int i = 0; i < kRank; ++i) elements *= count[i] = (s.box[i] + s.steps[i] - 1) / s.steps[i];
  std::vector<unsigned char> want(elements * s.bytes);
  for (unsigned e = 0; e < elements; ++e) {
    unsigned rest = e;
    long long from = 0;
    bool inside = true;
    for (int i = 0; i < kRank; ++i) {
      const long long at = place.at[i] + static_cast<long long>(rest % count[i]) * s.steps[i];
      rest /= count[i];
      inside = inside && at >= 0 && at < static_cast<long long>(s.dims[i]);
      from += at * static_cast<long long>(i == 0 ? s.bytes : strides[i - 1]);
    }
    for (int b = 0; b < s.bytes; ++b) {
      unsigned to = e * s.bytes + b;
      // Sixteen bytes move within their row of 32, 64 or 128 by the number of the row of 128.
      if (s.swizzle == CU_TENSOR_MAP_SWIZZLE_32B) to ^= (to / 128 % 2) * 16;
      if (s.swizzle == CU_TENSOR_MAP_SWIZZLE_64B) to ^= (to / 128 % 4) * 16;
      if (s.swizzle == CU_TENSOR_MAP_SWIZZLE_128B) to ^= (to / 128 % 8) * 16;
      want[to] = inside ? tensor[from + b] : 0;
    }
  }
  OnDevice<unsigned char> data(tensor), out(want.size());
  look<kRank><<<1, 64>>>(map_of(s, data.data), place, static_cast<unsigned>(want.size()), out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  expect_all_close(out.host(), want, 0, what);
}

int main() {
  constexpr auto kZero = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  constexpr auto kPlain = CU_TENSOR_MAP_SWIZZLE_NONE;
  try_box<1>({CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 1, {1000}, {256}, {1}, kPlain, kZero}, {{801}}, "1d bytes past the end");
  const Shape floats{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, 4, {37, 40}, {32, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, kZero};
  for (const Place place : {Place{{0, 0}}, Place{{4, 8}}, Place{{-3, -5}}, Place{{20, 30}}, Place{{5, 39}}, Place{{64, 0}}})
    try_box<2>(floats, place, "2d floats, swizzle of 128");
  Shape narrow = floats;
  narrow.box[0] = 16, narrow.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  try_box<2>(narrow, {{8, 1}}, "2d floats, swizzle of 64");
  narrow.box[0] = 8, narrow.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  try_box<2>(narrow, {{8, 1}}, "2d floats, swizzle of 32");
  try_box<3>({CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, 2, {64, 9, 5}, {64, 4, 3}, {1, 1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, kZero}, {{0, 7, 3}},
             "3d halves");
  try_box<4>({CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 4, {24, 6, 5, 4}, {16, 4, 3, 2}, {2, 1, 2, 1}, kPlain, kZero}, {{2, 1, 0, 3}},
             "4d, every second number");
  try_box<5>({CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 5, 8, {8, 3, 4, 3, 3}, {4, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, kPlain, kZero}, {{2, 1, -1, 1, 2}},
             "5d doubles");

  // Outside of a tensor of halves is NaN, where that is asked for.
  Shape nan{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 1, 2, {40}, {64}, {1}, kPlain, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA};
  OnDevice<unsigned short> ones(std::vector<unsigned short>(40, 0x3c00)), seen(64);
  look<1><<<1, 64>>>(map_of(nan, ones.data), Place{{0}}, 128, reinterpret_cast<unsigned char*>(seen.data));
  const auto halves = seen.host();
  for (std::size_t i = 0; i < 64; ++i)
    if (i < 40 ? halves[i] != 0x3c00 : (halves[i] & 0x7c00) != 0x7c00 || (halves[i] & 0x3ff) == 0)
      std::printf("half %zu is %x\n", i, halves[i]), ++wrong_values;

  // A store that begins before the tensor and ends after it leaves the rest alone.
  OnDevice<int> stored(std::vector<int>(12 * 5, -1));
  const Shape into{CU_TENSOR_MAP_DATA_TYPE_INT32, 2, 4, {12, 5}, {16, 8}, {1, 1}, kPlain, kZero};
  put<<<1, 128>>>(map_of(into, stored.data), -2, 3);
  std::vector<int> want(12 * 5, -1);
  for (int row = 3; row < 5; ++row)
    for (int column = 0; column < 12; ++column) want[row * 12 + column] = 1000 + (row - 3) * 16 + column + 2;
  expect_all_close(stored.host(), want, 0, "stored");

  std::vector<int> counted(256);
  for (int i = 0; i < 256; ++i) counted[i] = 7 * i;
  OnDevice<int> line(counted), shared_by_two(256);
  share<<<2, 128>>>(map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 1, 4, {256}, {128}, {1}, kPlain, kZero}, line.data), shared_by_two.data);
  std::vector<int> twice(256);
  for (int i = 0; i < 256; ++i) twice[i] = 7 * (64 + i % 128);
  expect_all_close(shared_by_two.host(), twice, 0, "multicast");
  return finish();
}
