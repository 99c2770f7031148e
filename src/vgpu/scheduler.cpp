#include "vgpu/scheduler.h"

#include <algorithm>
#include <deque>
#include <optional>

#if defined(__SANITIZE_THREAD__)
// Threads are blocks of a program, which may do with its memory what it likes, and be told by the marks that accesses leave. A mark
// that is lost to another one at the same time is an access that was not seen, and nothing else.
extern "C" const char* __tsan_default_suppressions() {
  return "race:kw::vgpu::exec_ld\nrace:kw::vgpu::exec_st\nrace:kw::vgpu::check_global\n";
}
#endif

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
  bool spread = false;
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

struct NextTeam {
  std::uint64_t number = 0;
  bool spread = false;
};

// The team to begin next, where there is one. A sample takes them in order for half of its time, because blocks may wait for
// earlier ones; then from all over what is left.
std::optional<NextTeam> next_team(Launch& launch, std::uint64_t teams) {
  if (!launch.is_sample) {
    const std::uint64_t number = launch.next_block.fetch_add(1);
    return number < teams ? std::optional(NextTeam{launch.order.nearly_in_order(number)}) : std::nullopt;
  }
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(launch.sample_mutex);
  const std::uint64_t number = launch.next_block.load();
  if (number >= teams || now >= launch.enough) return std::nullopt;
  launch.next_block.store(number + 1);
  const bool half_is_over = now - launch.start >= (launch.enough - launch.start) / 2;
  if (!launch.order.spreads() && half_is_over && number % TeamOrder::kWindow == 0) launch.order.spread_from(number);
  if (!launch.order.spreads()) return NextTeam{launch.order.nearly_in_order(number)};
  // The last one stands for no others, as little as the first ones do.
  return NextTeam{launch.order.spread(number), number != launch.order.first_spread()};
}

}  // namespace

void run_blocks(Launch& launch, Worker& in_order, Worker& spread, std::uint64_t resident) {
  const std::uint32_t size = launch.cluster.x * launch.cluster.y * launch.cluster.z;
  const std::uint64_t teams = launch.block_count / size;
  std::deque<std::unique_ptr<Team>> running;
  std::vector<std::unique_ptr<Team>> spare_of[2];  // in order, and from all over
  const auto admit = [&] {
    const auto next = next_team(launch, teams);
    if (!next) return false;
    Worker& worker = next->spread ? spread : in_order;
    auto& spare = spare_of[next->spread ? 1 : 0];
    std::unique_ptr<Team> team;
    if (spare.empty()) {
      team = std::make_unique<Team>();
      team->spread = next->spread;
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
      block.start(linear_of(launch, next->number, rank));
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
      spare_of[team->spread ? 1 : 0].push_back(std::move(team));
      continue;
    }
    Warp& first = *team->blocks[0]->warps[0];
    if (team->spread && !any_progress) launch.waits = true;
    running.push_back(std::move(team));
    if (running.size() < resident) admit();
    // All wait for others: threads that run those may need this processor.
    idle = any_progress ? 0 : idle + 1;
    if (idle > running.size()) {
      std::this_thread::yield();
      // Those that a sample leaves out may be what the others wait for.
      if (launch.has_enough() && launch.next_block.load() < teams) break;
    }
    // Here for all blocks that have not ended: one whose warps spin and then meet at a barrier is never idle.
    if (launch.past_deadline(first)) break;
  }
}

}  // namespace kw::vgpu
