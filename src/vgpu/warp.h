// The state of 32 threads: paths (lanes that are at the same place), joins (places where diverged lanes wait for each other),
// frames (registers of a function that is being called).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/program.h"

namespace kw::vgpu {

struct Block;
struct Launch;
struct Worker;

struct Frame {
  const Function* function = nullptr;
  Frame* caller = nullptr;
  std::vector<RegisterChunk> registers;
  std::uint32_t local_base = 0;
};

// Lanes of `expected` meet at pc; those that are there wait in `arrived`.
struct Join {
  std::uint32_t pc = 0, expected = 0, arrived = 0;
  Frame* frame = nullptr;
  Join* parent = nullptr;
  Frame* callee = nullptr;  // of a call: the frame that ends with it
  const CallSite* call = nullptr;
};

struct Path {
  enum class State : std::uint8_t { ready, barrier, warp_sync };
  std::uint32_t pc = 0, mask = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  State state = State::ready;
  std::uint8_t barrier = 0;     // its number
  std::uint32_t sync_mask = 0;  // of warp_sync: the lanes that have to come
};

struct AsyncCopy {
  std::uint64_t from = 0;
  std::uint32_t to = 0;  // in shared memory
  std::uint8_t bytes = 0, source_bytes = 0, lane = 0;
  std::uint32_t instruction = 0;
};
struct AsyncGroup {
  std::uint32_t lanes = 0;
  std::vector<AsyncCopy> copies;
};

struct Warp {
  // The current path, unpacked.
  std::uint32_t pc = 0, active = 0;
  std::byte* bases[4] = {};  // by OperandBase
  Frame* frame = nullptr;
  Join* join = nullptr;

  std::uint32_t carry = 0;  // CC.CF of each lane
  std::uint32_t live = 0;   // lanes that have not exited
  std::uint32_t lanes = 0;  // lanes that the block has
  int index = 0;            // in the block
  Block* block = nullptr;
  Launch* launch = nullptr;
  Worker* worker = nullptr;

  std::vector<Path> paths;  // not the current one
  std::vector<Join*> joins;
  std::vector<std::unique_ptr<Frame>> frames, spare_frames;
  std::vector<std::unique_ptr<Join>> spare_joins;
  std::vector<RegisterChunk> specials;
  std::vector<std::byte> local;   // 32 stacks
  std::uint32_t local_bytes = 0;  // of one stack

  std::vector<AsyncCopy> uncommitted;
  std::vector<AsyncGroup> groups;

  std::uint32_t backward = 0;  // branches since the last change of path
  std::uint32_t polls = 0;     // strong accesses since the last backward branch
  std::uint32_t spins = 0;     // backward branches in a row with polls
  bool yielding = false, spinning = false;
  bool apart = false;  // lanes went on without others that span: they may come to barriers one after the other
  std::uint32_t cluster_phase = 0, cluster_arrived = 0;  // at the barrier of the cluster: the phase, and lanes of this one

  // The last allocations that were accessed.
  struct Range {
    std::uint64_t begin = 1, end = 0;
    struct Allocation* allocation = nullptr;
  };
  Range ranges[4];
  unsigned next_range = 0;
  std::uint64_t ranges_generation = 0;

  [[nodiscard]] std::byte* at(OperandRef ref) const { return bases[ref & 3u] + (ref & ~3u); }
  template <typename T>
  [[nodiscard]] T* as(OperandRef ref) const {
    return reinterpret_cast<T*>(at(ref));
  }
  [[nodiscard]] std::uint32_t predicate(OperandRef ref) const { return *as<std::uint32_t>(ref); }

  Warp() = default;
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;
  ~Warp();
  void start();  // all lanes of the block at the kernel's first instruction
  void run();    // until it waits, yields or ends
  [[nodiscard]] bool done() const { return live == 0; }
  [[nodiscard]] bool ready() const;

  [[nodiscard]] bool next_ready_elsewhere() const;
  bool free_waiting();
  bool next_path();  // true: the current path is a ready one
  void save_path(Path::State state);
  void keep_only(std::uint32_t mask);  // the other lanes of the path go on as one of their own
  void enter(const Path& path);
  Join* new_join(std::uint32_t at, std::uint32_t expected, Frame* of);
  void drop_join(Join* which);
  Frame* new_frame(const Function& function, Frame* caller);
  void drop_frame(Frame* which);
  void lanes_left(std::uint32_t mask);               // exited: no join waits for them
  void leave_join(Join* which, std::uint32_t mask);  // lanes that will not come to it
  void settle(Join* which);                          // a join all of whose lanes are there becomes a path
  bool backward_branch();                            // false: time for another path or warp
  void release_sync();                               // paths that waited for other lanes of the warp
};

// True where it ended the launch. Copies of cp.async that are due.
void complete_async(Warp& warp, std::uint32_t lanes, std::uint32_t keep);

}  // namespace kw::vgpu
