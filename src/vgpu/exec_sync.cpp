// Barriers of a block and of a cluster.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "vgpu/access.h"
#include "vgpu/cluster.h"
#include "vgpu/exec.h"

namespace kw::vgpu {
namespace {

// The lanes of mask wait; the others of the path go on.
void wait_here(Warp& warp, std::uint32_t mask, std::uint8_t number) {
  warp.keep_only(mask);
  warp.save_path(Path::State::barrier);
  warp.paths.back().barrier = number;
}

std::uint32_t threads_there(const Block& block, const Barrier& barrier) {
  std::uint32_t threads = 0;
  for (const auto& warp : block.warps) {
    const std::uint32_t here = barrier.arrived[static_cast<std::size_t>(warp->index)];
    if (here == 0) continue;
    // Numbers of threads are multiples of 32: a warp that is there as a whole counts as a whole.
    threads += (here & warp->live) == warp->live ? 32u : static_cast<std::uint32_t>(std::popcount(here));
  }
  return threads;
}

bool all_there(const Block& block, const Barrier& barrier) {
  if (barrier.expected_threads != 0) return threads_there(block, barrier) >= barrier.expected_threads;
  for (const auto& warp : block.warps) {
    if ((warp->live & ~barrier.arrived[static_cast<std::size_t>(warp->index)]) != 0) return false;
  }
  return true;
}

void give_result(Warp& warp, const Path& path, const Barrier& barrier) {
  const Instruction& instruction = warp.launch->module->code[path.pc - 1];
  if (instruction.dst == kNoOperand) return;
  auto* to = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(path.frame->registers.data()) + (instruction.dst & ~3u));
  if (instruction.aux == kBarRedPopc) {
    for (std::uint32_t rest = path.mask; rest != 0; rest &= rest - 1) to[std::countr_zero(rest)] = barrier.votes;
  } else {
    const bool yes = instruction.aux == kBarRedAnd ? barrier.all : barrier.any;
    *to = (*to & ~path.mask) | (yes ? path.mask : 0u);
  }
}

}  // namespace

// Lanes that have ended are not waited for; that those that live come together can be told only when the barrier is complete,
// because some may end until then.
void Block::report_parts(const Barrier& barrier) {
  for (const auto& warp : warps) {
    const auto index = static_cast<std::size_t>(warp->index);
    const std::uint32_t here = barrier.arrived[index], missing = warp->live & ~here;
    if (barrier.parts[index] == 0 || (barrier.parts[index] == 1 && missing == 0)) continue;
    const Instruction& instruction = launch->module->code[barrier.where[index]];
    launch->report("divergent_barrier", *warp, instruction, std::countr_zero(here),
                   fmt::format("lanes 0x{:08x} of warp {} come to a barrier {}; all threads of a block that have not ended have to "
                               "reach the same barrier",
                               here, warp->index,
                               missing != 0 ? fmt::format("that lanes 0x{:08x} of it do not reach", missing)
                                            : std::string("one after the other, by different ways")),
                   {}, false);
  }
}

void Block::barrier_changed(std::uint32_t number) {
  Barrier& barrier = barriers[number];
  if (!barrier.in_use || !all_there(*this, barrier)) return;
  if (launch->options.checks) report_parts(barrier);
  for (const auto& warp : warps) {
    bool waited = false;
    for (Path& path : warp->paths) {
      if (path.state != Path::State::barrier || path.barrier != number) continue;
      path.state = Path::State::ready;
      give_result(*warp, path, barrier);
      waited = true;
    }
    if (waited && launch->options.checks) shadow.take(warp->index, barrier.clock);
  }
  barrier = Barrier{};
}

// Complete where every lane that lives has arrived: one that arrives and ends without waiting is not missed in the next phase.
void Block::cluster_changed() {
  Cluster& own = of_cluster();
  if (!own.in_use) return;
  const auto each_warp = [&](auto&& use) {
    if (cluster == nullptr) return std::all_of(warps.begin(), warps.end(), use);
    return std::all_of(own.blocks.begin(), own.blocks.end(),
                       [&](const Block* block) { return std::all_of(block->warps.begin(), block->warps.end(), use); });
  };
  if (!each_warp([](const auto& warp) { return (warp->live & ~warp->cluster_arrived) == 0; })) return;
  each_warp([](const auto& warp) {
    warp->cluster_arrived = 0;
    return true;
  });
  own.in_use = false;
  ++own.generation;
}

void Block::lanes_exited() {
  for (std::uint32_t number = 0; number < barriers.size(); ++number) barrier_changed(number);
  cluster_changed();
}

// a: number; b: threads; c: predicate of .red; aux: BarKind.
bool exec_bar(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const std::uint32_t number = warp.as<std::uint32_t>(instruction.a)[lane];
  const std::uint32_t threads = instruction.b == kNoOperand ? 0 : warp.as<std::uint32_t>(instruction.b)[lane];
  Launch& launch = *warp.launch;
  if (number >= warp.block->barriers.size() || threads % 32 != 0) {
    launch.report("divergent_barrier", warp, instruction, lane,
                  number >= warp.block->barriers.size()
                      ? fmt::format("there is no barrier {}; a block has 16", number)
                      : fmt::format("a barrier for {} threads, which is no multiple of 32", threads),
                  {}, true);
    return false;
  }
  if (launch.options.counters) ++warp.worker->slots[instruction.slot].barriers;
  Barrier& barrier = warp.block->barriers[number];
  const auto index = static_cast<std::size_t>(warp.index);
  barrier.in_use = true;
  if (barrier.arrived[index] == 0) barrier.where[index] = warp.pc - 1;
  if (threads != 0) barrier.expected_threads = threads;
  barrier.arrived[index] |= mask;
  if ((instruction.flags & kPerThread) == 0 && !warp.apart) ++barrier.parts[index];
  if (launch.options.checks) warp.block->shadow.give(warp.index, barrier.clock);
  if (instruction.c != kNoOperand) {
    const std::uint32_t votes = warp.predicate(instruction.c) & mask;
    barrier.votes += static_cast<std::uint32_t>(std::popcount(votes));
    barrier.all = barrier.all && votes == mask;
    barrier.any = barrier.any || votes != 0;
  }
  if (instruction.aux == kBarArrive) {
    warp.block->barrier_changed(number);
    return true;
  }
  wait_here(warp, mask, static_cast<std::uint8_t>(number));
  warp.block->barrier_changed(number);
  return false;
}

bool exec_nanosleep(Warp& warp, const Instruction& /*instruction*/, std::uint32_t /*mask*/) {
  ++warp.polls;
  return true;
}

Block* cluster_block(Block& block, std::uint32_t rank) {
  if (block.cluster == nullptr) return rank == 0 ? &block : nullptr;
  return rank < block.cluster->blocks.size() ? block.cluster->blocks[rank] : nullptr;
}

// aux 0: arrive; 1: wait. Without a cluster it is a barrier of one block, and all its threads have to come.
bool exec_cluster_barrier(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Cluster& own = warp.block->of_cluster();
  if (warp.launch->options.counters) ++warp.worker->slots[instruction.slot].barriers;
  if (instruction.aux == 0) {
    if (warp.launch->options.checks) warp.block->shadow.give(warp.index, own.clock);
    warp.cluster_phase = own.generation;
    warp.cluster_arrived |= mask;
    own.in_use = true;
    warp.block->cluster_changed();
    return true;
  }
  if (own.generation != warp.cluster_phase) {
    if (warp.launch->options.checks) warp.block->shadow.take(warp.index, own.clock);
    return true;
  }
  // Not yet: this instruction again, after the others had their turn, lanes of this warp among them.
  --warp.pc;
  warp.save_path(Path::State::ready);
  warp.yielding = warp.spinning = true;
  return false;
}

}  // namespace kw::vgpu
