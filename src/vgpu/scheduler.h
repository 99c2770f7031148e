// Runs the blocks of a launch over host threads. Blocks that wait for others make room for them, up to what a GPU would hold at
// once.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "vgpu/launch.h"

namespace kw::vgpu {

// Threads that live as long as the device.
class ThreadPool {
 public:
  ~ThreadPool();
  // Runs work(0) to work(n - 1), the first on the calling thread.
  void run(int n, const std::function<void(int)>& work);

 private:
  void serve(int number, std::uint64_t seen);
  std::mutex mutex_;
  std::condition_variable start_, end_;
  std::vector<std::thread> threads_;
  const std::function<void(int)>* work_ = nullptr;
  int wanted_ = 0, left_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
};

// What one host thread does in a launch; `resident` blocks at most at once. Blocks of a sample that come from all over are counted
// apart from those that are taken in order.
void run_blocks(Launch& launch, Worker& in_order, Worker& spread, std::uint64_t resident);

}  // namespace kw::vgpu
