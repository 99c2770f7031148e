// Blocks: their warps take turns; what they wait for, and what happens when nothing goes on.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

void fill_special(Warp& warp, Special which, std::uint32_t value) {
  auto* row = reinterpret_cast<std::uint32_t*>(warp.specials.data() + static_cast<std::size_t>(which) * 2);
  std::fill(row, row + kLanes, value);
}

void fill_lane_specials(Warp& warp, const Launch& launch) {
  const auto row = [&](Special which) {
    return reinterpret_cast<std::uint32_t*>(warp.specials.data() + static_cast<std::size_t>(which) * 2);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const Dim3 thread = thread_of(launch, warp, lane);
    row(Special::tid_x)[lane] = thread.x;
    row(Special::tid_y)[lane] = thread.y;
    row(Special::tid_z)[lane] = thread.z;
    row(Special::laneid)[lane] = static_cast<std::uint32_t>(lane);
    row(Special::lanemask_eq)[lane] = 1u << lane;
    row(Special::lanemask_lt)[lane] = (1u << lane) - 1u;
    row(Special::lanemask_le)[lane] = ((1u << lane) - 1u) | 1u << lane;
    row(Special::lanemask_gt)[lane] = ~(((1u << lane) - 1u) | 1u << lane);
    row(Special::lanemask_ge)[lane] = ~((1u << lane) - 1u);
  }
}

void make_warp(Block& block, Worker& worker, int index) {
  Launch& launch = *block.launch;
  auto warp = std::make_unique<Warp>();
  warp->index = index;
  warp->block = &block;
  warp->launch = &launch;
  warp->worker = &worker;
  const std::uint32_t rest = launch.threads - static_cast<std::uint32_t>(index) * 32u;
  warp->lanes = rest >= 32 ? 0xffffffffu : (1u << rest) - 1u;
  warp->specials.resize(static_cast<std::size_t>(Special::count) * 2);
  warp->local_bytes = launch.local_bytes;
  warp->local.resize(static_cast<std::size_t>(launch.local_bytes) * kLanes);
  warp->bases[kConstantBase] = reinterpret_cast<std::byte*>(const_cast<RegisterChunk*>(launch.module->constants.data()));
  warp->bases[kSpecialBase] = reinterpret_cast<std::byte*>(warp->specials.data());
  fill_lane_specials(*warp, launch);
  // Where cooperative groups find the barrier of the grid.
  const auto workspace = reinterpret_cast<std::uint64_t>(launch.grid_workspace.data());
  const std::pair<Special, std::uint32_t> fixed[] = {
      {Special::warpid, static_cast<std::uint32_t>(index)},
      {Special::ntid_x, launch.block.x},
      {Special::ntid_y, launch.block.y},
      {Special::ntid_z, launch.block.z},
      {Special::nctaid_x, launch.grid.x},
      {Special::nctaid_y, launch.grid.y},
      {Special::nctaid_z, launch.grid.z},
      {Special::nwarpid, launch.warps},
      {Special::nsmid, static_cast<std::uint32_t>(launch.options.limits.sm_count)},
      {Special::gridid, static_cast<std::uint32_t>(mixed(launch.options.seed, 0) % 0xffffff + launch.id)},
      {Special::dynamic_smem, launch.dynamic_shared},
      {Special::total_smem, launch.shared_bytes},
      {Special::zero, 0},
      {Special::nclusterid_x, launch.grid.x / launch.cluster.x},
      {Special::nclusterid_y, launch.grid.y / launch.cluster.y},
      {Special::nclusterid_z, launch.grid.z / launch.cluster.z},
      {Special::cluster_nctaid_x, launch.cluster.x},
      {Special::cluster_nctaid_y, launch.cluster.y},
      {Special::cluster_nctaid_z, launch.cluster.z},
      {Special::cluster_nctarank, launch.cluster.x * launch.cluster.y * launch.cluster.z},
      {Special::explicit_cluster, launch.cluster == Dim3{} ? 0u : 1u},
      {Special::envreg1, static_cast<std::uint32_t>(workspace >> 32)},
      {Special::envreg2, static_cast<std::uint32_t>(workspace)}};
  for (const auto& [which, value] : fixed) fill_special(*warp, which, value);
  block.warps.push_back(std::move(warp));
}

}  // namespace

Dim3 thread_of(const Launch& launch, const Warp& warp, int lane) {
  const std::uint32_t linear = static_cast<std::uint32_t>(warp.index) * 32u + static_cast<std::uint32_t>(lane);
  return {linear % launch.block.x, linear / launch.block.x % launch.block.y, linear / launch.block.x / launch.block.y};
}

void Block::prepare(Launch& of, Worker& worker) {
  launch = &of;
  shared_bytes = of.shared_bytes;
  shared_storage.resize(of.shared_bytes / sizeof(RegisterChunk) + 2);
  shared = reinterpret_cast<std::byte*>(shared_storage.data());
  for (std::uint32_t i = 0; i < of.warps; ++i) make_warp(*this, worker, static_cast<int>(i));
  const std::uint64_t l1 = of.options.limits.l1_bytes;
  if (of.options.counters) l1_model_ready(l1 > of.shared_bytes ? l1 - of.shared_bytes : 16384);
}

void Block::l1_model_ready(std::uint64_t bytes) { l1.resize(bytes); }

void Block::start(std::uint64_t linear_index) {
  linear = linear_index;
  index = {static_cast<std::uint32_t>(linear % launch->grid.x),
           static_cast<std::uint32_t>(linear / launch->grid.x % launch->grid.y),
           static_cast<std::uint32_t>(linear / launch->grid.x / launch->grid.y)};
  for (Barrier& barrier : barriers) barrier = Barrier{};
  fence_epoch = 0;
  last_acquire = 0;
  own_cluster = Cluster{};
  fill = fill_of(launch->options.seed, launch->id, linear);
  vgpu::fill(shared, shared_bytes, fill);
  if (launch->options.checks) shadow.start_block(shared_bytes, static_cast<int>(launch->warps));
  if (launch->options.counters) l1.clear();
  const Dim3 c = launch->cluster;
  const Dim3 in_cluster{index.x % c.x, index.y % c.y, index.z % c.z};
  cluster_rank = in_cluster.x + c.x * (in_cluster.y + c.y * in_cluster.z);
  const std::uint32_t multiprocessor = multiprocessor_of(launch->seed, linear, launch->options.limits.sm_count);
  for (const auto& warp : warps) {
    fill_special(*warp, Special::ctaid_x, index.x);
    fill_special(*warp, Special::ctaid_y, index.y);
    fill_special(*warp, Special::ctaid_z, index.z);
    fill_special(*warp, Special::smid, multiprocessor);
    fill_special(*warp, Special::clusterid_x, index.x / c.x);
    fill_special(*warp, Special::clusterid_y, index.y / c.y);
    fill_special(*warp, Special::clusterid_z, index.z / c.z);
    fill_special(*warp, Special::cluster_ctaid_x, in_cluster.x);
    fill_special(*warp, Special::cluster_ctaid_y, in_cluster.y);
    fill_special(*warp, Special::cluster_ctaid_z, in_cluster.z);
    fill_special(*warp, Special::cluster_ctarank, cluster_rank);
    warp->start();
  }
}

bool Block::finished() const {
  return std::all_of(warps.begin(), warps.end(), [](const auto& warp) { return warp->done(); });
}

bool Block::run(bool& progress) {
  progress = false;
  for (std::uint32_t turn = 1;; ++turn) {
    // Warps that only go from barrier to barrier never look at the clock themselves.
    if (turn % 256 == 0 && launch->past_deadline(*warps[0])) return true;
    bool ran = false, all_spin = true;
    for (const auto& warp : warps) {
      if (warp->done() || !warp->ready()) continue;
      ran = true;
      warp->run();
      if (launch->stop.load(std::memory_order_relaxed)) return true;
      if (!warp->spinning) all_spin = false;
    }
    if (finished()) {
      progress = true;
      return true;
    }
    if (!ran) {
      report_deadlock();
      return true;
    }
    if (all_spin) {
      // Warps that are ready now, because one that span has let them go, have their turn first.
      const bool freed = std::any_of(warps.begin(), warps.end(),
                                     [](const auto& warp) { return !warp->done() && warp->ready() && !warp->spinning; });
      if (!freed) return false;
    }
    progress = true;
  }
}

void Block::report_deadlock() {
  if (launch->options.checks) {
    for (const Barrier& barrier : barriers)
      if (barrier.in_use) report_parts(barrier);
  }
  for (const auto& warp : warps) {
    if (warp->done()) continue;
    const Path* path = warp->paths.empty() ? nullptr : &warp->paths.front();
    if (path == nullptr || path->pc == 0) continue;
    const bool sync = path->state == Path::State::warp_sync;
    const std::uint32_t at = sync && launch->module->code[path->pc].d != kNoOperand ? path->pc : path->pc - 1;
    const Instruction& instruction = launch->module->code[at];
    launch->report(
        "deadlock", *warp, instruction, std::countr_zero(path->mask),
        sync ? fmt::format(
                   "lanes 0x{:08x} of warp {} wait for lanes 0x{:08x}, which never come to a warp-wide instruction with them",
                   path->mask, warp->index, path->sync_mask & ~path->mask)
             : fmt::format("lanes 0x{:08x} of warp {} wait at barrier {} for threads that never come", path->mask, warp->index,
                           path->barrier),
        {}, true);
    return;
  }
  launch->stop = true;
}

}  // namespace kw::vgpu
