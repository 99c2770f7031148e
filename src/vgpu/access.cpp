#include "vgpu/access.h"

#include <fmt/format.h>

#include <bit>

#include "vgpu/cluster.h"
#include "vgpu/exec.h"

namespace kw::vgpu {
namespace {

std::string_view verb_of(const Instruction& instruction) {
  if ((instruction.flags & kAtomic) != 0) return "updates";
  return (instruction.flags & kStore) != 0 ? "writes" : "reads";
}

bool report_bounds(Warp& warp, const Instruction& instruction, int lane, std::uint32_t bytes, std::string where,
                   std::string allocation) {
  warp.launch->report("out_of_bounds", warp, instruction, lane,
                      fmt::format("{} {} bytes at {}", verb_of(instruction), bytes, where), std::move(allocation), true);
  return false;
}

bool report_misaligned(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (access.addresses[lane] % access.bytes == 0) continue;
    std::string name(space_name(access.space));
    std::uint64_t offset = access.addresses[lane];
    if (access.space == Space::global || access.space == Space::constant) {
      if (const Allocation* allocation = warp.launch->memory->find(access.addresses[lane])) {
        name = allocation->name;
        offset -= reinterpret_cast<std::uint64_t>(allocation->begin);
      }
    }
    warp.launch->report("misaligned", warp, instruction, lane,
                        fmt::format("{} {} bytes at byte {} of '{}', which is no multiple of {}", verb_of(instruction),
                                    access.bytes, offset, name, access.bytes),
                        name, true);
    return false;
  }
  return true;
}

bool aligned(std::uint32_t mask, const Access& access) {
  std::uint64_t bits = 0;
  if (access.contiguous) {
    bits = access.addresses[0];
  } else {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) bits |= access.addresses[std::countr_zero(rest)];
  }
  return (bits & (access.bytes - 1)) == 0;
}

Warp::Range* cached_range(Warp& warp, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t generation = warp.launch->memory->generation();
  if (warp.ranges_generation != generation) {
    for (Warp::Range& range : warp.ranges) range = {};
    warp.ranges_generation = generation;
  }
  for (Warp::Range& range : warp.ranges) {
    if (begin >= range.begin && end <= range.end && begin <= end) return &range;
  }
  Allocation* found = warp.launch->memory->find(begin);
  if (found == nullptr) return nullptr;
  const auto first = reinterpret_cast<std::uint64_t>(found->begin);
  Warp::Range& range = warp.ranges[warp.next_range++ % 4];
  range = {first, first + found->bytes, found};
  return begin >= range.begin && end <= range.end && begin <= end ? &range : nullptr;
}

bool resolve_global(Warp& warp, const Instruction& instruction, std::uint32_t mask, Access& access) {
  std::uint64_t least = 0, largest = 0;
  if (access.contiguous) {
    least = access.addresses[0];
    largest = access.addresses[kLanes - 1];
  } else {
    lane_moves().extent(access.addresses, mask, &least, &largest);
  }
  const bool writes = (instruction.flags & kStore) != 0;
  if (const Warp::Range* range = cached_range(warp, least, largest + access.bytes)) {
    access.allocation = range->allocation;
    if (writes && range->allocation->read_only) {
      return report_bounds(warp, instruction, std::countr_zero(mask), access.bytes,
                           fmt::format("'{}', which is read-only", range->allocation->name), range->allocation->name);
    }
    return true;
  }
  access.contiguous = false;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = access.addresses[lane];
    const Warp::Range* range = cached_range(warp, address, address + access.bytes);
    if (range == nullptr) {
      std::string nearest;
      const Allocation* inside = warp.launch->memory->find(address);
      if (inside != nullptr) {
        return report_bounds(warp, instruction, lane, access.bytes,
                             fmt::format("byte {} of '{}', which has {} bytes",
                                         address - reinterpret_cast<std::uint64_t>(inside->begin), inside->name, inside->bytes),
                             inside->name);
      }
      std::string where = warp.launch->memory->describe(address, &nearest);
      return report_bounds(warp, instruction, lane, access.bytes, std::move(where), std::move(nearest));
    }
    if (writes && range->allocation->read_only) {
      return report_bounds(warp, instruction, lane, access.bytes, fmt::format("'{}', which is read-only", range->allocation->name),
                           range->allocation->name);
    }
  }
  return true;
}

bool resolve_shared(Warp& warp, const Instruction& instruction, std::uint32_t mask, Access& access) {
  const std::uint32_t size = warp.block->shared_bytes;
  const auto base = reinterpret_cast<std::uint64_t>(warp.block->shared);
  std::uint64_t least = 0, largest = 0;
  lane_moves().extent(access.addresses, mask, &least, &largest);
  if (largest + access.bytes <= size) {
    for (int i = 0; i < kLanes; ++i) access.places[i] = base + access.addresses[i];
    return true;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    Block* owner = shared_owner(warp, access.addresses[lane]);
    const std::uint64_t offset = access.addresses[lane] & 0xffffffu;
    const std::uint64_t past = access.addresses[lane] >> 32;
    if (owner == nullptr || past != 0 || offset + access.bytes > owner->shared_bytes) {
      const auto signed_offset = static_cast<std::int32_t>(access.addresses[lane]);
      return report_bounds(
          warp, instruction, lane, access.bytes,
          signed_offset < 0 && past == 0
              ? fmt::format("{} bytes before the block's shared memory", -static_cast<std::int64_t>(signed_offset))
              : fmt::format("byte {} of the block's shared memory, which has {} bytes", access.addresses[lane], size),
          "shared memory");
    }
    access.places[lane] = reinterpret_cast<std::uint64_t>(owner->shared) + offset;
  }
  access.contiguous = false;
  return true;
}

bool resolve_local(Warp& warp, const Instruction& instruction, std::uint32_t mask, Access& access) {
  access.contiguous = false;
  const auto base = reinterpret_cast<std::uint64_t>(warp.local.data());
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t offset = access.addresses[lane];
    if (offset > warp.local_bytes || offset + access.bytes > warp.local_bytes) {
      return report_bounds(warp, instruction, lane, access.bytes,
                           fmt::format("byte {} of the thread's local memory, which has {} bytes",
                                       static_cast<std::int64_t>(offset), warp.local_bytes),
                           "local memory");
    }
    access.places[lane] = base + static_cast<std::uint64_t>(lane) * warp.local_bytes + offset;
  }
  return true;
}

}  // namespace

Space space_of(std::uint64_t address) {
  const std::uint64_t tag = address & kTagMask;
  return tag == kSharedTag ? Space::shared : tag == kLocalTag ? Space::local : Space::global;
}

bool split_spaces(const std::uint64_t* addresses, std::uint32_t mask, Space* all) {
  std::uint64_t least = 0, largest = 0;
  lane_moves().extent(addresses, mask, &least, &largest);
  const Space low = space_of(least), high = space_of(largest);
  *all = low;
  return low == high;
}

bool compute_addresses(const Warp& warp, const Instruction& instruction, std::uint32_t bytes, std::uint64_t* addresses) {
  const void* base = warp.at(instruction.a);
  return (instruction.flags & kWideAddress) != 0 ? lane_moves().places64(addresses, base, instruction.imm, bytes)
                                                 : lane_moves().places32(addresses, base, instruction.imm, bytes);
}

Block* shared_owner(Warp& warp, std::uint64_t address) {
  const std::uint64_t rank = (address >> 24) & 0xffu;
  if (rank == 0) return warp.block;
  return cluster_block(*warp.block, static_cast<std::uint32_t>(rank - 1));
}

bool resolve(Warp& warp, const Instruction& instruction, std::uint32_t mask, Access& access) {
  if (access.space == Space::shared || access.space == Space::local) {
    // Only those of the mask: the others may be in another space, whose turn comes.
    for (int i = 0; i < kLanes; ++i) access.addresses[i] &= ((mask >> i) & 1u) != 0 ? ~kTagMask : ~0ull;
  }
  if (!aligned(mask, access)) return report_misaligned(warp, instruction, mask, access);
  switch (access.space) {
    case Space::shared:
      return resolve_shared(warp, instruction, mask, access);
    case Space::local:
      return resolve_local(warp, instruction, mask, access);
    default:
      if (!resolve_global(warp, instruction, mask, access)) return false;
      for (int i = 0; i < kLanes; ++i) access.places[i] = access.addresses[i];
      return true;
  }
}

void observe(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool reads, bool writes) {
  const DeviceOptions& options = warp.launch->options;
  if ((instruction.flags & kStrong) != 0) ++warp.polls;
  if (options.checks) {
    if (access.space == Space::shared) {
      check_shared(warp, instruction, mask, access, reads, writes);
    } else if (access.space == Space::global) {
      check_global(warp, instruction, mask, access, reads, writes);
    }
  }
  if (!options.counters) return;
  LineCounters& counters = warp.worker->slots[instruction.slot];
  switch (access.space) {
    case Space::shared:
      count_shared(warp, instruction, mask, access, writes);
      break;
    case Space::local:
      ++counters.local_requests;
      counters.local_bytes += static_cast<std::uint64_t>(std::popcount(mask)) * access.bytes;
      break;
    case Space::constant:
      ++counters.constant_requests;
      break;
    default:
      count_global(warp, instruction, mask, access, writes);
      break;
  }
}

}  // namespace kw::vgpu
