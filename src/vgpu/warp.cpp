#include "vgpu/warp.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/exec.h"
#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

constexpr std::uint32_t kBranchesPerPath = 64;     // backward ones, then another path of the warp has its turn
constexpr std::uint32_t kBranchesPerTurn = 20000;  // then another warp
constexpr std::uint32_t kFilledStack = 4096;  // bytes of a thread's stack; deeper down stands what was there before, as on a GPU
constexpr std::uint32_t kSpins = 48;          // loops in a row that look at memory others write: likely a wait

}  // namespace

void Warp::start() {
  paths.clear();
  while (!joins.empty()) drop_join(joins.back());
  for (auto& used : frames) spare_frames.push_back(std::move(used));
  frames.clear();
  uncommitted.clear();
  groups.clear();
  const std::size_t filled = std::min(local_bytes, kFilledStack);
  for (std::size_t lane = 0; lane < kLanes && filled != 0; ++lane) fill(local.data() + lane * local_bytes, filled, block->fill);
  live = lanes;
  carry = cluster_arrived = 0;
  backward = polls = spins = 0;
  yielding = spinning = apart = false;
  Path first;
  first.mask = lanes;
  first.pc = launch->function->first;
  first.frame = new_frame(*launch->function, nullptr);
  enter(first);
}

void Warp::enter(const Path& path) {
  pc = path.pc;
  active = path.mask;
  frame = path.frame;
  join = path.join;
  bases[kRegisterBase] = reinterpret_cast<std::byte*>(frame->registers.data());
}

void Warp::save_path(Path::State state) {
  Path path;
  path.pc = pc;
  path.mask = active;
  path.frame = frame;
  path.join = join;
  path.state = state;
  paths.push_back(path);
  active = 0;
}

void Warp::keep_only(std::uint32_t mask) {
  const std::uint32_t others = active & ~mask;
  if (others != 0) {
    active = others;
    save_path(Path::State::ready);
  }
  active = mask;
}

bool Warp::ready() const {
  if (active != 0) return true;
  return std::any_of(paths.begin(), paths.end(), [](const Path& path) { return path.state == Path::State::ready; });
}

bool Warp::next_path() {
  if (active != 0) return true;
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    if (path->state != Path::State::ready) continue;
    const Path chosen = *path;
    paths.erase(path);
    enter(chosen);
    return true;
  }
  return false;
}

Frame* Warp::new_frame(const Function& function, Frame* caller) {
  std::unique_ptr<Frame> made;
  if (!spare_frames.empty()) {
    made = std::move(spare_frames.back());
    spare_frames.pop_back();
  } else {
    made = std::make_unique<Frame>();
  }
  made->function = &function;
  made->caller = caller;
  made->local_base = caller == nullptr ? 0 : caller->local_base + caller->function->frame_bytes;
  made->registers.resize(function.register_bytes / sizeof(RegisterChunk) + 1);
  fill(made->registers.data(), made->registers.size() * sizeof(RegisterChunk), block->fill);
  frames.push_back(std::move(made));
  return frames.back().get();
}

void Warp::drop_frame(Frame* which) {
  for (auto& known : frames) {
    if (known.get() == which) {
      spare_frames.push_back(std::move(known));
      known = std::move(frames.back());
      frames.pop_back();
      return;
    }
  }
}

Join* Warp::new_join(std::uint32_t at, std::uint32_t expected, Frame* of) {
  std::unique_ptr<Join> made;
  if (!spare_joins.empty()) {
    made = std::move(spare_joins.back());
    spare_joins.pop_back();
  } else {
    made = std::make_unique<Join>();
  }
  *made = Join{at, expected, 0, of, join, nullptr, nullptr};
  joins.push_back(made.release());
  return joins.back();
}

void Warp::drop_join(Join* which) {
  const auto found = std::find(joins.begin(), joins.end(), which);
  if (found == joins.end()) return;
  joins.erase(found);
  if (which->callee != nullptr) drop_frame(which->callee);
  spare_joins.emplace_back(which);
}

Warp::~Warp() {
  for (Join* left : joins) delete left;
}

void Warp::settle(Join* which) {
  if (which->expected == 0) {
    drop_join(which);
  } else if (which->arrived == which->expected) {
    Path together;
    together.pc = which->pc;
    together.mask = which->expected;
    together.frame = which->frame;
    together.join = which->parent;
    paths.push_back(together);
    drop_join(which);
  }
}

void Warp::leave_join(Join* which, std::uint32_t mask) {
  which->expected &= ~mask;
  which->arrived &= ~mask;
  settle(which);
}

void Warp::lanes_left(std::uint32_t mask) {
  live &= ~mask;
  // Inner joins first: they were made last.
  const std::vector<Join*> all(joins.rbegin(), joins.rend());
  for (Join* each : all) {
    if ((each->expected & mask) != 0) leave_join(each, mask);
  }
  release_sync();
  block->lanes_exited();
}

// Paths that wait for each other at warp-wide instructions go on when all the lanes that they name and that live are there.
void Warp::release_sync() {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].state != Path::State::warp_sync) continue;
    const std::uint32_t wanted = paths[i].sync_mask & live;
    std::uint32_t there = 0;
    for (const Path& path : paths) {
      if (path.state == Path::State::warp_sync && path.sync_mask == paths[i].sync_mask) there |= path.mask;
    }
    if ((wanted & ~there) != 0) continue;
    const std::uint32_t name = paths[i].sync_mask;
    for (Path& path : paths) {
      if (path.state == Path::State::warp_sync && path.sync_mask == name) path.state = Path::State::ready;
    }
  }
}

bool Warp::backward_branch() {
  ++backward;
  if (polls != 0) {
    polls = 0;
    ++spins;
  } else {
    spins = 0;
  }
  const bool others = !paths.empty();
  if (spins >= kSpins) {
    spins = 0;
    if (free_waiting()) {
      save_path(Path::State::ready);
      return false;
    }
    if (others && backward % (kBranchesPerPath * 4) != 0 && next_ready_elsewhere()) {
      save_path(Path::State::ready);
      return false;
    }
    yielding = spinning = true;
    return false;
  }
  if (others && backward % kBranchesPerPath == 0 && next_ready_elsewhere()) {
    save_path(Path::State::ready);
    return false;
  }
  if ((backward & 1023u) == 0) {
    if (launch->stop.load(std::memory_order_relaxed) || launch->past_deadline(*this)) {
      yielding = true;
      return false;
    }
    if (backward >= kBranchesPerTurn) {
      yielding = true;
      return false;
    }
  }
  return true;
}

// Lanes that wait at a join for lanes that spin may be the ones those wait for, as with a lock: they go on without them.
bool Warp::free_waiting() {
  bool freed = false;
  const std::vector<Join*> all = joins;
  for (Join* each : all) {
    if (each->arrived == 0) continue;
    Path ahead;
    ahead.pc = each->pc;
    ahead.mask = each->arrived;
    ahead.frame = each->frame;
    ahead.join = each->parent;
    paths.push_back(ahead);
    each->expected &= ~each->arrived;
    each->arrived = 0;
    apart = freed = true;
  }
  return freed;
}

bool Warp::next_ready_elsewhere() const {
  return std::any_of(paths.begin(), paths.end(), [](const Path& path) { return path.state == Path::State::ready; });
}

void Warp::run() {
  yielding = spinning = false;
  backward = 0;
  if (!next_path()) return;
  const Instruction* code = launch->module->code.data();
  InstructionCount* counts = launch->options.counters ? worker->counts.data() : nullptr;
  for (;;) {
    const Instruction& instruction = code[pc];
    std::uint32_t mask = active;
    if (instruction.guard != kNoOperand) {
      const std::uint32_t guard = predicate(instruction.guard);
      mask &= instruction.guard_negated ? ~guard : guard;
    }
    if (counts != nullptr) {
      InstructionCount& count = counts[pc];
      ++count.issued;
      count.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    }
    ++pc;
    if (mask == 0) continue;
    if (!instruction.exec(*this, instruction, mask)) {
      if (yielding || launch->stop.load(std::memory_order_relaxed)) return;
      if (!next_path()) return;
    }
  }
}

}  // namespace kw::vgpu
