#include <deque>

#include "../check.h"

// Breadth-first search: a frontier that grows by atomics, one launch a level, compare-and-swap on the distances.
__global__ void expand(const int* begins, const int* targets, int* distance, const int* frontier, int size, int* next, int* next_size, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int node = frontier[i];
  for (int edge = begins[node]; edge < begins[node + 1]; ++edge)
    if (atomicCAS(&distance[targets[edge]], -1, level) == -1) next[atomicAdd(next_size, 1)] = targets[edge];
}

int main() {
  const int nodes = 300;
  Numbers numbers;
  std::vector<int> begins{0}, targets;
  for (int node = 0; node < nodes; ++node) {
    for (unsigned edges = numbers.bits() >> 30; edges > 0; --edges) targets.push_back(static_cast<int>((numbers.bits() >> 8) % nodes));
    begins.push_back(static_cast<int>(targets.size()));
  }
  std::vector<int> want(nodes, -1);
  std::deque<int> queue{0};
  want[0] = 0;
  for (; !queue.empty(); queue.pop_front())
    for (int edge = begins[queue.front()]; edge < begins[queue.front() + 1]; ++edge)
      if (want[targets[edge]] < 0) want[targets[edge]] = want[queue.front()] + 1, queue.push_back(targets[edge]);
  std::vector<int> start(nodes, -1);
  start[0] = 0;
  OnDevice<int> db(begins), dt(targets), distance(start), a(nodes), b(nodes), count(1);
  CHECK_CUDA(cudaMemset(a.data, 0, sizeof(int)));
  int size = 1;
  int *frontier = a.data, *next = b.data;
  for (int level = 1; size > 0; ++level) {
    CHECK_CUDA(cudaMemset(count.data, 0, sizeof(int)));
    expand<<<(size + 63) / 64, 64>>>(db.data, dt.data, distance.data, frontier, size, next, count.data, level);
    size = count.host()[0];
    std::swap(frontier, next);
  }
  expect_all_close(distance.host(), want, 0, "distance");
  return finish();
}
