// What the threads of a warp or of a block have, joined to one value that all of them get. Pieces to paste; maths.cuh says how.
#pragma once

#include "lanes.cuh"
#include "maths.cuh"

// piece: joins needs: device maximum minimum
struct kw_join_sum {
  template <class T>
  __device__ T operator()(T x, T y) const { return x + y; }
};
struct kw_join_prod {
  template <class T>
  __device__ T operator()(T x, T y) const { return x * y; }
};
struct kw_join_max {
  template <class T>
  __device__ T operator()(T x, T y) const { return kw_maximum(x, y); }
};
struct kw_join_min {
  template <class T>
  __device__ T operator()(T x, T y) const { return kw_minimum(x, y); }
};
struct kw_join_any {
  __device__ bool operator()(bool x, bool y) const { return x || y; }
};
struct kw_join_all {
  __device__ bool operator()(bool x, bool y) const { return x && y; }
};

// piece: warp_join needs: joins
// By exchanges between registers.
template <class Join, class T>
KW_DEVICE T kw_warp_join(T x, Join join) {
  for (int distance = 16; distance > 0; distance /= 2) x = join(x, static_cast<T>(__shfl_xor_sync(0xffffffffu, x, distance)));
  return x;
}
template <class Join>
KW_DEVICE bool kw_warp_join(bool x, Join join) {
  for (int distance = 16; distance > 0; distance /= 2) x = join(x, __shfl_xor_sync(0xffffffffu, int(x), distance) != 0);
  return x;
}

// piece: block_shuffle_join needs: warp_join
// Each warp by exchanges, then what the warps have through shared memory.
template <int Threads, class Join, class T>
KW_DEVICE T kw_block_join(T x, Join join) {
  static_assert(Threads % 32 == 0);
  x = kw_warp_join(x, join);
  if (Threads == 32) return x;
  __shared__ T parts[Threads / 32];
  __syncthreads();  // the parts may be those of a call before this one
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  x = parts[0];
  for (int i = 1; i < Threads / 32; ++i) x = join(x, parts[i]);
  return x;
}

// piece: block_tree_join needs: joins
// Halves of the threads through shared memory, a barrier for each step.
template <int Threads, class Join, class T>
KW_DEVICE T kw_block_join(T x, Join join) {
  static_assert((Threads & (Threads - 1)) == 0);
  __shared__ T parts[Threads];
  __syncthreads();
  parts[threadIdx.x] = x;
  __syncthreads();
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  return parts[0];
}

// piece: online_step needs: vec exp
// One more number of a row into its greatest so far and the sum of exponentials below that.
KW_DEVICE void kw_online_step(float& top, float& total, float x) {
  const float step = kw_exp(-fabsf(x - top));
  total = x > top ? total * step + 1.0f : total + step;
  top = x > top ? x : top;
}
KW_DEVICE void kw_online_step(kw_vec& top, kw_vec& total, kw_vec x) {
  for (int i = 0; i < kw_lanes; ++i) kw_online_step(top.v[i], total.v[i], x.v[i]);
}
