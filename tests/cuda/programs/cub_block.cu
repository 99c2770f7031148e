#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include <algorithm>

#include "../check.h"

// CUB's primitives of a block: load, sort, scan, reduce, store.
template <int Threads, int Items>
__global__ void primitives(const unsigned* in, unsigned* sorted, unsigned* scanned, unsigned* total) {
  using Load = cub::BlockLoad<unsigned, Threads, Items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, Threads, Items>;
  using Scan = cub::BlockScan<unsigned, Threads>;
  using Reduce = cub::BlockReduce<unsigned, Threads>;
  using Store = cub::BlockStore<unsigned, Threads, Items, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Store::TempStorage store;
  } temp;
  unsigned keys[Items], sums[Items];
  const int offset = blockIdx.x * Threads * Items;
  Load(temp.load).Load(in + offset, keys);
  __syncthreads();
  Sort(temp.sort).Sort(keys);
  __syncthreads();
  Scan(temp.scan).InclusiveSum(keys, sums);
  __syncthreads();
  const unsigned sum = Reduce(temp.reduce).Sum(keys);
  if (threadIdx.x == 0) total[blockIdx.x] = sum;
  __syncthreads();
  Store(temp.store).Store(sorted + offset, keys);
  __syncthreads();
  Store(temp.store).Store(scanned + offset, sums);
}

int main() {
  constexpr int threads = 64, items = 4, per_block = threads * items, blocks = 2;
  Numbers numbers;
  std::vector<unsigned> in(blocks * per_block);
  for (unsigned& v : in) v = numbers.bits() >> 16;
  auto sorted = in;
  std::vector<unsigned> scanned(in.size()), totals(blocks, 0);
  for (int b = 0; b < blocks; ++b) {
    std::sort(sorted.begin() + b * per_block, sorted.begin() + (b + 1) * per_block);
    for (int i = b * per_block; i < (b + 1) * per_block; ++i) scanned[i] = totals[b] += sorted[i];
  }
  OnDevice<unsigned> din(in), dsorted(in.size()), dscanned(in.size()), dtotals(blocks);
  primitives<threads, items><<<blocks, threads>>>(din.data, dsorted.data, dscanned.data, dtotals.data);
  expect_all_close(dsorted.host(), sorted, 0, "sorted");
  expect_all_close(dscanned.host(), scanned, 0, "scanned");
  expect_all_close(dtotals.host(), totals, 0, "total");
  return finish();
}
