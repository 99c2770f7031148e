// A tile through shared memory by CuTe's own TMA atoms, there and back.
#include <cute/tensor.hpp>

#include "../check.h"

using namespace cute;

template <class Load, class Store, class Layout_>
__global__ void copy_tile(const __grid_constant__ Load load, const __grid_constant__ Store store, Layout_ layout, int rows, int columns) {
  __shared__ alignas(1024) float tile[cosize_v<Layout_>];
  __shared__ alignas(8) uint64_t barrier;
  Tensor shared = make_tensor(make_smem_ptr(tile), layout);
  auto far = load.get_tma_tensor(make_shape(rows, columns));
  auto place = make_coord(blockIdx.x, blockIdx.y);
  Tensor mine = local_tile(far, make_shape(Int<32>{}, Int<32>{}), place);
  if (threadIdx.x == 0) {
    initialize_barrier(barrier, 1);
    set_barrier_transaction_bytes(barrier, sizeof(tile));
    auto slice = load.get_slice(0);
    copy(load.with(barrier), slice.partition_S(mine), slice.partition_D(shared));
  }
  __syncthreads();
  wait_barrier(barrier, 0);
  for (int i = threadIdx.x; i < size(layout); i += blockDim.x) shared(i) = shared(i) * 2;
  tma_store_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    auto out = store.get_tma_tensor(make_shape(rows, columns));
    Tensor to = local_tile(out, make_shape(Int<32>{}, Int<32>{}), place);
    auto slice = store.get_slice(0);
    copy(store, slice.partition_S(shared), slice.partition_D(to));
    tma_store_arrive();
    tma_store_wait<0>();
  }
}

int main() {
  const int rows = 100, columns = 72;
  Numbers numbers;
  const auto x = numbers.floats(rows * columns);
  OnDevice<float> dx(x), dy(std::vector<float>(rows * columns, 0.0f));
  auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<float>{}, make_shape(Int<32>{}, Int<32>{}));
  auto from = make_tensor(make_gmem_ptr(dx.data), make_shape(rows, columns), make_stride(columns, Int<1>{}));
  auto to = make_tensor(make_gmem_ptr(dy.data), make_shape(rows, columns), make_stride(columns, Int<1>{}));
  auto load = make_tma_copy(SM90_TMA_LOAD{}, from, layout);
  auto store = make_tma_copy(SM90_TMA_STORE{}, to, layout);
  copy_tile<<<dim3((rows + 31) / 32, (columns + 31) / 32), 128>>>(load, store, layout, rows, columns);
  CHECK_CUDA(cudaGetLastError());
  std::vector<float> want(x);
  for (float& each : want) each *= 2;
  expect_all_close(dy.host(), want, 0, "y");
  return finish();
}
