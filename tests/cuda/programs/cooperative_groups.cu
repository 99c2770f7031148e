#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../check.h"

namespace cg = cooperative_groups;

// Groups of a block, tiles of 16, groups of the lanes that are active, reductions and scans over them.
__global__ void groups(const int* in, int* tile_sums, int* positives, int* ranks, int* scanned, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int i = block.group_index().x * block.size() + block.thread_rank();
  const int value = i < n ? in[i] : 0;
  const int sum = cg::reduce(tile, value, cg::plus<int>());
  if (tile.thread_rank() == 0) tile_sums[i / 16] = sum;
  scanned[i] = cg::exclusive_scan(tile, value, cg::plus<int>());
  ranks[i] = -1;
  if (value > 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    ranks[i] = active.thread_rank();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(positives, active.size());
    active.shfl(first, 0);
  }
  block.sync();
}

int main() {
  const int n = 256;
  Numbers numbers;
  std::vector<int> in(n), sums(n / 16, 0), ranks(n), scanned(n);
  int positives = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<int>(numbers.bits() >> 20) - 2000;
    scanned[i] = i % 16 == 0 ? 0 : scanned[i - 1] + in[i - 1];
    sums[i / 16] += in[i];
    positives += in[i] > 0;
  }
  for (int warp = 0; warp < n; warp += 32)
    for (int lane = 0, rank = 0; lane < 32; ++lane) ranks[warp + lane] = in[warp + lane] > 0 ? rank++ : -1;
  OnDevice<int> din(in), dsums(n / 16), dpositives(std::vector<int>{0}), dranks(n), dscanned(n);
  groups<<<2, 128>>>(din.data, dsums.data, dpositives.data, dranks.data, dscanned.data, n);
  expect_all_close(dsums.host(), sums, 0, "sum");
  expect_all_close(dranks.host(), ranks, 0, "rank");
  expect_all_close(dscanned.host(), scanned, 0, "scan");
  expect_close(dpositives.host()[0], positives, 0, "positives", 0);
  return finish();
}
