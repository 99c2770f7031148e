#include "vgpu/scheduler.h"

#include <deque>

namespace kw::vgpu {

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(int n, const std::function<void(int)>& work) {
  if (n > 1) {
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(threads_.size()) < n - 1) {
      threads_.emplace_back(&ThreadPool::serve, this, static_cast<int>(threads_.size()) + 1, round_);
    }
    work_ = &work;
    wanted_ = n;
    left_ = n - 1;
    ++round_;
    start_.notify_all();
  }
  work(0);
  if (n > 1) {
    std::unique_lock lock(mutex_);
    end_.wait(lock, [&] { return left_ == 0; });
    work_ = nullptr;
  }
}

void ThreadPool::serve(int number, std::uint64_t seen) {
  for (;;) {
    const std::function<void(int)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      if (number >= wanted_) continue;
      work = work_;
    }
    (*work)(number);
    {
      const std::lock_guard lock(mutex_);
      --left_;
    }
    end_.notify_one();
  }
}

namespace {

// The blocks that start and end together: a cluster, or one block.
struct Team {
  std::vector<std::unique_ptr<Block>> blocks;
  Cluster cluster;
};

std::uint64_t linear_of(const Launch& launch, std::uint64_t team, std::uint32_t rank) {
  const Dim3 c = launch.cluster;
  if (c == Dim3{}) return team;
  const std::uint64_t across = launch.grid.x / c.x, down = launch.grid.y / c.y;
  const std::uint64_t x = team % across * c.x + rank % c.x;
  const std::uint64_t y = team / across % down * c.y + rank / c.x % c.y;
  const std::uint64_t z = team / across / down * c.z + rank / c.x / c.y;
  return x + launch.grid.x * (y + launch.grid.y * z);
}

}  // namespace

void run_blocks(Launch& launch, Worker& worker, std::uint64_t resident) {
  const std::uint32_t size = launch.cluster.x * launch.cluster.y * launch.cluster.z;
  const std::uint64_t teams = launch.block_count / size;
  std::deque<std::unique_ptr<Team>> running;
  std::vector<std::unique_ptr<Team>> spare;
  const auto admit = [&] {
    const std::uint64_t number = launch.next_block.fetch_add(1);
    if (number >= teams) return false;
    std::unique_ptr<Team> team;
    if (spare.empty()) {
      team = std::make_unique<Team>();
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        team->blocks.push_back(std::make_unique<Block>());
        team->blocks.back()->prepare(launch, worker);
      }
    } else {
      team = std::move(spare.back());
      spare.pop_back();
    }
    team->cluster = Cluster{};
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      Block& block = *team->blocks[rank];
      block.cluster = size > 1 ? &team->cluster : nullptr;
      team->cluster.blocks.push_back(&block);
      block.start(linear_of(launch, number, rank));
    }
    worker.blocks += size;
    running.push_back(std::move(team));
    return true;
  };
  std::size_t idle = 0;
  while (!launch.stop.load(std::memory_order_relaxed)) {
    if (running.empty() && !admit()) break;
    std::unique_ptr<Team> team = std::move(running.front());
    running.pop_front();
    bool ended = true, any_progress = false;
    for (const auto& block : team->blocks) {
      if (block->finished()) continue;
      bool progress = false;
      if (!block->run(progress)) ended = false;
      any_progress = any_progress || progress;
    }
    if (launch.stop.load(std::memory_order_relaxed)) break;
    if (ended) {
      idle = 0;
      spare.push_back(std::move(team));
      continue;
    }
    Warp& first = *team->blocks[0]->warps[0];
    running.push_back(std::move(team));
    if (running.size() < resident) admit();
    // All wait for others: threads that run those may need this processor.
    idle = any_progress ? 0 : idle + 1;
    if (idle > running.size()) {
      std::this_thread::yield();
      if (launch.past_deadline(first)) break;
    }
  }
}

}  // namespace kw::vgpu
