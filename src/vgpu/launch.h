// One launch: what all its blocks share (Launch), what one host thread has (Worker), and one block (Block).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/cache_model.h"
#include "vgpu/cluster.h"
#include "vgpu/device.h"
#include "vgpu/memory.h"
#include "vgpu/program.h"
#include "vgpu/shared_shadow.h"
#include "vgpu/surroundings.h"
#include "vgpu/warp.h"

namespace kw::vgpu {

// A barrier of a block (bar 0 to 15), by threads.
struct Barrier {
  std::uint32_t expected_threads = 0;       // 0: all threads that live
  std::array<std::uint32_t, 32> arrived{};  // lanes by warp
  std::array<std::uint32_t, 32> where{};    // by warp, the first instruction that brought some of its lanes here
  std::array<std::uint8_t, 32> parts{};     // by warp, how often lanes of it came that have to come together
  std::uint32_t votes = 0;                  // of red.popc
  bool all = true, any = false;
  bool in_use = false;
  WarpClock clock{};  // what those who arrived knew
};

struct Block {
  Dim3 index{0, 0, 0};
  std::uint64_t linear = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<RegisterChunk> shared_storage;
  std::byte* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  std::array<Barrier, 16> barriers;
  SharedShadow shadow;
  CacheModel l1;
  Launch* launch = nullptr;
  std::uint32_t fence_epoch = 0;  // of the check for races between blocks
  std::uint64_t last_acquire = 0;
  std::uint32_t cluster_rank = 0;
  std::uint64_t fill = 0;  // what stands where nothing has been written
  Cluster* cluster = nullptr;
  Cluster own_cluster;  // where the launch has none

  void prepare(Launch& of, Worker& worker);
  void l1_model_ready(std::uint64_t bytes);
  void start(std::uint64_t linear_index);
  // Every warp runs until it waits. True: the block has ended. progress: something ran that does not only spin.
  bool run(bool& progress);
  [[nodiscard]] bool finished() const;
  void barrier_changed(std::uint32_t number);  // completes it where all are there
  void report_parts(const Barrier& barrier);   // warps whose lanes did not come together
  void cluster_changed();                      // the same for the barrier of the cluster
  [[nodiscard]] Cluster& of_cluster() { return cluster != nullptr ? *cluster : own_cluster; }
  void lanes_exited();
  void report_deadlock();
};

struct InstructionCount {
  std::uint64_t issued = 0, lanes = 0;
};

struct Worker {
  Launch* launch = nullptr;
  std::vector<InstructionCount> counts;  // by instruction
  std::vector<LineCounters> slots;       // by Instruction::slot
  std::vector<std::unique_ptr<Block>> spare;
  std::uint64_t blocks = 0;
};

struct Launch {
  const Function* function = nullptr;
  const Module* module = nullptr;
  Dim3 grid, block, cluster;
  std::uint64_t block_count = 0;
  std::uint32_t threads = 0, warps = 0, dynamic_shared = 0, shared_bytes = 0, local_bytes = 0;
  std::uint32_t dynamic_offset = 0;  // where dynamic shared memory begins
  std::vector<RegisterChunk> params, grid_workspace;
  DeviceOptions options;
  Memory* memory = nullptr;
  CacheModel* l2 = nullptr;
  std::mutex l2_mutex;
  std::uint64_t id = 0, seed = 0;
  std::uint16_t tag = 0;  // of the shadows: this launch
  bool single_thread = false;
  bool has_deadline = false, is_sample = false;  // a sample begins no block after `enough`
  std::size_t heap_limit = 8u << 20;             // of malloc in kernels
  std::function<void(std::string_view)> print;
  const std::vector<Module*>* modules = nullptr;

  std::atomic<std::uint64_t> next_block{0};
  std::atomic<bool> stop{false};
  std::chrono::steady_clock::time_point start, deadline, enough;
  std::mutex sample_mutex;  // of which blocks a sample takes
  TeamOrder order;
  std::atomic<bool> waits{false};  // a block from all over only waited, for one that the sample leaves out

  std::mutex mutex;  // of what follows
  std::map<std::pair<std::string, std::uint32_t>, Finding> findings;
  std::mutex print_mutex;

  // When blocks fenced, for the check of races between blocks: by block, the times of its fences.
  std::mutex fence_mutex;
  std::map<std::uint32_t, std::vector<std::uint64_t>> fences;
  std::atomic<std::uint64_t> sync_clock{1};
  std::atomic<bool> any_fence{false};

  // A finding at an instruction; `fatal` stops the launch. Only the first of a kind at an instruction keeps its words.
  void report(std::string_view kind, const Warp& warp, const Instruction& instruction, int lane, std::string message,
              std::string allocation, bool fatal);
  bool past_deadline(const Warp& warp);
  [[nodiscard]] bool has_enough() const { return is_sample && std::chrono::steady_clock::now() >= enough; }
};

Dim3 thread_of(const Launch& launch, const Warp& warp, int lane);

}  // namespace kw::vgpu
