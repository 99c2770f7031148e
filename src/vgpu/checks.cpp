// Checks of an access that is in bounds: was it written before it is read, and does another warp or block access it without order?
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/access.h"
#include "vgpu/exec.h"

namespace kw::vgpu {
namespace {

std::uint64_t shadow_word(const Warp& warp, std::uint32_t bytes_mask) {
  return (warp.block->linear & 0xffffffffull) | static_cast<std::uint64_t>(bytes_mask) << 32 |
         static_cast<std::uint64_t>(warp.block->fence_epoch & 0x7fffu) << 36 | static_cast<std::uint64_t>(warp.launch->tag) << 52;
}
std::uint32_t block_of_word(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t bytes_of_word(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32) & 15u; }
std::uint32_t epoch_of_word(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 36) & 0x7fffu; }
std::uint32_t launch_of_word(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 52); }

// The other block fenced after its access, and this block has looked at what others write since: ordered.
bool ordered(const Warp& warp, std::uint64_t word, bool strong) {
  Launch& launch = *warp.launch;
  if (!launch.any_fence.load(std::memory_order_relaxed)) return false;
  if ((word & kShadowMany) != 0) return true;  // which blocks is not known: no claim
  const std::lock_guard lock(launch.fence_mutex);
  const auto found = launch.fences.find(block_of_word(word));
  if (found == launch.fences.end() || found->second.size() <= epoch_of_word(word)) return false;
  return strong || warp.block->last_acquire > found->second[epoch_of_word(word)];
}

std::string block_name(const Launch& launch, std::uint32_t linear) {
  return fmt::format("({}, {}, {})", linear % launch.grid.x, linear / launch.grid.x % launch.grid.y,
                     static_cast<std::uint64_t>(linear) / launch.grid.x / launch.grid.y);
}

// Does the lane write what is there already? Then blocks that write the same do no harm.
bool writes_the_same(const Warp& warp, const Instruction& instruction, int lane, std::uint64_t place) {
  if ((instruction.flags & kStore) == 0 || (instruction.flags & kAtomic) != 0 || instruction.list_size != instruction.count)
    return false;
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  for (std::uint32_t e = 0; e < instruction.count; ++e) {
    const std::byte* value = warp.at(refs[e]) + static_cast<std::size_t>(lane) * instruction.dst_bytes;
    if (std::memcmp(value, reinterpret_cast<const void*>(place + e * instruction.bytes), instruction.bytes) != 0) return false;
  }
  return true;
}

void report_global_race(Warp& warp, const Instruction& instruction, int lane, const Allocation& allocation, std::uint64_t offset,
                        std::uint64_t word, bool writes, bool other_writes) {
  warp.launch->report("global_race", warp, instruction, lane,
                      fmt::format("{} byte {} of '{}', which block {} {} in the same launch with nothing that orders the two",
                                  writes ? "writes" : "reads", offset, allocation.name,
                                  block_name(*warp.launch, block_of_word(word)), other_writes ? "writes" : "reads"),
                      allocation.name, false);
}

void check_initialised(Warp& warp, const Instruction& instruction, int lane, Allocation& allocation, std::uint64_t offset,
                       std::uint32_t bytes) {
  const std::uint8_t* known = allocation.initialised_bytes();
  if (known == nullptr) return;
  const auto* missing = static_cast<const std::uint8_t*>(std::memchr(known + offset, 0, bytes));
  if (missing == nullptr) return;
  warp.launch->report("uninitialised", warp, instruction, lane,
                      fmt::format("reads byte {} of '{}', which nothing has written", missing - known, allocation.name),
                      allocation.name, false);
}

void check_lane(Warp& warp, const Instruction& instruction, int lane, std::uint64_t place, std::uint32_t bytes,
                Allocation& allocation, bool reads, bool writes) {
  const std::uint64_t offset = place - reinterpret_cast<std::uint64_t>(allocation.begin);
  const bool strong = (instruction.flags & kStrong) != 0;
  if (reads && !allocation.all_initialised.load(std::memory_order_relaxed))
    check_initialised(warp, instruction, lane, allocation, offset, bytes);
  if (writes && !allocation.all_initialised.load(std::memory_order_relaxed)) {
    if (std::uint8_t* known = allocation.initialised_bytes()) std::memset(known + offset, 1, bytes);
  }
  if (warp.launch->block_count == 1 || allocation.read_only) return;
  std::uint64_t* writers = allocation.shadow(allocation.writers);
  std::uint64_t* readers = allocation.shadow(allocation.readers);
  if (writers == nullptr || readers == nullptr) return;
  const auto own = static_cast<std::uint32_t>(warp.block->linear);
  const std::uint32_t tag = warp.launch->tag;
  for (std::uint64_t at = offset; at < offset + bytes; at = (at | 3u) + 1) {
    const std::uint64_t stop = std::min<std::uint64_t>(offset + bytes, (at | 3u) + 1);
    const std::uint32_t touched = ((1u << (stop - at)) - 1u) << (at & 3u);
    std::uint64_t& writer = writers[at / 4];
    std::uint64_t& reader = readers[at / 4];
    const std::uint64_t last = writer;
    if (launch_of_word(last) == tag && block_of_word(last) != own && (bytes_of_word(last) & touched) != 0 &&
        !ordered(warp, last, strong) && !(writes && writes_the_same(warp, instruction, lane, place))) {
      report_global_race(warp, instruction, lane, allocation, at, last, writes, true);
    }
    if (strong) continue;  // leaves no mark: it races with nothing by itself
    if (writes) {
      const std::uint64_t read = reader;
      if (launch_of_word(read) == tag && (block_of_word(read) != own || (read & kShadowMany) != 0) &&
          (bytes_of_word(read) & touched) != 0 && !ordered(warp, read, false) && !writes_the_same(warp, instruction, lane, place)) {
        report_global_race(warp, instruction, lane, allocation, at, read, true, false);
      }
      const bool same =
          launch_of_word(last) == tag && block_of_word(last) == own && epoch_of_word(last) == (warp.block->fence_epoch & 0x7fffu);
      writer = shadow_word(warp, touched | (same ? bytes_of_word(last) : 0u));
    } else if (reads) {
      const std::uint64_t read = reader;
      if (launch_of_word(read) != tag) {
        reader = shadow_word(warp, touched);
      } else if (block_of_word(read) == own) {
        reader = shadow_word(warp, touched | bytes_of_word(read)) | (read & kShadowMany);
      } else if ((read & kShadowMany) == 0 || (bytes_of_word(read) & touched) != touched) {
        reader = read | kShadowMany | static_cast<std::uint64_t>(touched) << 32;
      }
    }
  }
}

}  // namespace

namespace {

// Lanes that write different values to the same place with one instruction: which of them stays is not known.
void check_lanes_of_store(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access,
                          std::string_view kind) {
  if (instruction.exec != exec_st || access.contiguous || (instruction.flags & kStrong) != 0) return;
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  std::int8_t table[64];
  std::memset(table, -1, sizeof table);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::size_t at = access.places[lane] / access.bytes % 64;
    while (table[at] >= 0 && access.places[table[at]] != access.places[lane]) at = (at + 1) % 64;
    if (table[at] < 0) {
      table[at] = static_cast<std::int8_t>(lane);
      continue;
    }
    const int other = table[at];
    bool same = true;
    for (std::uint32_t e = 0; e < instruction.count; ++e) {
      const std::byte* values = warp.at(refs[e]);
      const auto width = static_cast<std::size_t>(instruction.dst_bytes);
      same = same && std::memcmp(values + static_cast<std::size_t>(lane) * width, values + static_cast<std::size_t>(other) * width,
                                 instruction.bytes) == 0;
    }
    if (same) continue;
    const Allocation* allocation = access.space == Space::shared ? nullptr : warp.launch->memory->find(access.places[lane]);
    const std::string name = allocation != nullptr ? allocation->name : "shared memory";
    const std::uint64_t offset =
        allocation != nullptr ? access.places[lane] - reinterpret_cast<std::uint64_t>(allocation->begin) : access.addresses[lane];
    warp.launch->report(kind, warp, instruction, lane,
                        fmt::format("lanes {} and {} of warp {} write different values to byte {} of '{}' at the same time", other,
                                    lane, warp.index, offset, name),
                        name, false);
    return;
  }
}

}  // namespace

void note_release(Warp& warp) {
  Launch& launch = *warp.launch;
  if (!launch.options.checks || launch.block_count == 1) return;
  const std::lock_guard lock(launch.fence_mutex);
  auto& times = launch.fences[static_cast<std::uint32_t>(warp.block->linear)];
  if (times.size() >= 0x7ffe) return;
  times.push_back(launch.sync_clock.fetch_add(1) + 1);
  warp.block->fence_epoch = static_cast<std::uint32_t>(times.size());
  launch.any_fence = true;
}

void note_acquire(Warp& warp) {
  if (warp.launch->options.checks && warp.launch->block_count != 1)
    warp.block->last_acquire = warp.launch->sync_clock.fetch_add(1) + 1;
}

namespace {

// The whole warp at once, where its lanes lie side by side; false: something needs a closer look, and nothing was noted.
bool check_whole(Warp& warp, const Instruction& instruction, const Access& access, bool reads, bool writes) {
  Allocation& allocation = *access.allocation;
  const std::uint64_t offset = access.places[0] - reinterpret_cast<std::uint64_t>(allocation.begin);
  const std::size_t bytes = static_cast<std::size_t>(access.bytes) * kLanes;
  const bool whole = allocation.all_initialised.load(std::memory_order_relaxed);
  std::uint8_t* known = whole ? nullptr : allocation.initialised_bytes();
  if (reads && known != nullptr && std::memchr(known + offset, 0, bytes) != nullptr) return false;
  if (warp.launch->block_count != 1) {
    if (access.bytes % 4 != 0 || (instruction.flags & kStrong) != 0) return false;
    std::uint64_t* writers = allocation.shadow(allocation.writers);
    std::uint64_t* readers = allocation.shadow(allocation.readers);
    if (writers == nullptr || readers == nullptr) return false;
    if (!lane_moves().note_access(writers + offset / 4, readers + offset / 4, bytes / 4, shadow_word(warp, 15), writes))
      return false;
  }
  if (writes && known != nullptr) std::memset(known + offset, 1, bytes);
  return true;
}

}  // namespace

void check_global(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool reads, bool writes) {
  if (access.allocation != nullptr && access.allocation->read_only) return;
  if (access.contiguous && access.allocation != nullptr && check_whole(warp, instruction, access, reads, writes)) return;
  if (writes) check_lanes_of_store(warp, instruction, mask, access, "global_race");
  std::uint64_t before = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (access.places[lane] == before && !writes) continue;  // as the lane before
    before = access.places[lane];
    Allocation* allocation = access.allocation != nullptr ? access.allocation : warp.launch->memory->find(access.places[lane]);
    if (allocation != nullptr) check_lane(warp, instruction, lane, access.places[lane], access.bytes, *allocation, reads, writes);
  }
}

namespace {

void report_shared_race(Warp& warp, const Instruction& instruction, int lane, bool writes, const SharedShadow::Conflict& conflict) {
  const Launch& launch = *warp.launch;
  const Instruction& other = launch.module->code[conflict.other_instruction];
  const int other_line = launch.module->line_of(other.source);
  const std::string where = other_line > 0 ? fmt::format(" at line {}", other_line) : fmt::format(" at PTX line {}", other.line);
  warp.launch->report(
      "shared_race", warp, instruction, lane,
      conflict.pending
          ? fmt::format("reads byte {} of shared memory, which an asynchronous copy{} may still be writing", conflict.offset, where)
          : fmt::format("{} byte {} of shared memory, which warp {} {}{} with no barrier in between", writes ? "writes" : "reads",
                        conflict.offset, conflict.other_warp, conflict.other_writes ? "writes" : "reads", where),
      "shared memory", false);
}

// Warps that write the same to the same place do no harm: layouts of Triton have values in several warps, and each stores its own.
bool stores_the_same(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t offset, std::uint32_t bytes,
                     std::uint32_t each) {
  if (instruction.exec != exec_st) return false;
  const auto place = reinterpret_cast<std::uint64_t>(warp.block->shared) + offset;
  for (std::uint32_t at = 0; at < bytes; at += each, ++lane) {
    if (!writes_the_same(warp, instruction, lane, place + at)) return false;
  }
  return true;
}

// `bytes` from offset on, of lanes from `lane` on with `each` bytes.
void check_shared_range(Warp& warp, const Instruction& instruction, int lane, std::uint32_t offset, std::uint32_t bytes,
                        std::uint32_t each, bool reads, bool writes) {
  SharedShadow& shadow = warp.block->shadow;
  if (reads) {
    if (const int missing = shadow.first_uninitialised(offset, bytes); missing >= 0) {
      warp.launch->report(
          "uninitialised", warp, instruction, lane + missing / static_cast<int>(each),
          fmt::format("reads byte {} of shared memory, which nothing has written", offset + static_cast<std::uint32_t>(missing)),
          "shared memory", false);
      shadow.initialise(offset, bytes);
    }
  }
  if (writes) shadow.initialise(offset, bytes);
  if ((instruction.flags & kStrong) != 0) return;
  const SharedShadow::Conflict conflict = writes ? shadow.write(offset, bytes, warp.index, lane, warp.pc - 1)
                                                 : shadow.read(offset, bytes, warp.index, lane, warp.pc - 1);
  if (conflict.found && !(writes && conflict.other_writes && stores_the_same(warp, instruction, lane, offset, bytes, each)))
    report_shared_race(warp, instruction, lane + static_cast<int>((conflict.offset - offset) / each), writes, conflict);
}

}  // namespace

void check_shared(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool reads, bool writes) {
  if (access.contiguous) {
    check_shared_range(warp, instruction, 0, static_cast<std::uint32_t>(access.addresses[0]), access.bytes * kLanes, access.bytes,
                       reads, writes);
  } else {
    if (writes) check_lanes_of_store(warp, instruction, mask, access, "shared_race");
    std::uint64_t before = ~0ull;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint64_t address = access.addresses[lane];
      if ((address >> 24) != 0 || (address == before && !writes))
        continue;  // of another block of the cluster, or as the lane before
      before = address;
      check_shared_range(warp, instruction, lane, static_cast<std::uint32_t>(address), access.bytes, access.bytes, reads, writes);
    }
  }
  if ((instruction.flags & kStrong) != 0) {
    // Atomics and volatile accesses order what they are used to order: locks and flags.
    SharedShadow& shadow = warp.block->shadow;
    shadow.give(warp.index, shadow.atomic_clock());
    shadow.take(warp.index, shadow.atomic_clock());
  }
}

}  // namespace kw::vgpu
