// cp.async, bulk copies and mbarriers. A copy is done when it is waited for, as late as the hardware may: who reads too early sees
// what was there before.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/access.h"
#include "vgpu/exec.h"

namespace kw::vgpu {
namespace {

void do_copy(Warp& warp, const AsyncCopy& copy) {
  std::byte* to = warp.block->shared + copy.to;
  std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.source_bytes);
  std::memset(to + copy.source_bytes, 0, static_cast<std::size_t>(copy.bytes - copy.source_bytes));
  if (warp.launch->options.checks) {
    warp.block->shadow.write(copy.to, copy.bytes, warp.index, copy.lane, copy.instruction);
    warp.block->shadow.initialise(copy.to, copy.bytes);
  }
}

// An mbarrier as 64 bits: expected arrivals (20), pending arrivals (20), phase (1), and pending bytes (23, signed).
struct Mbarrier {
  std::uint32_t expected = 0, pending = 0, phase = 0;
  std::int32_t bytes = 0;
};

Mbarrier unpack_mbarrier(std::uint64_t word) {
  Mbarrier barrier;
  barrier.expected = static_cast<std::uint32_t>(word & 0xfffffu);
  barrier.pending = static_cast<std::uint32_t>((word >> 20) & 0xfffffu);
  barrier.phase = static_cast<std::uint32_t>((word >> 40) & 1u);
  barrier.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(word) >> 41);
  return barrier;
}

std::uint64_t pack_mbarrier(const Mbarrier& barrier) {
  return (barrier.expected & 0xfffffull) | (barrier.pending & 0xfffffull) << 20 | static_cast<std::uint64_t>(barrier.phase) << 40 |
         static_cast<std::uint64_t>(static_cast<std::int64_t>(barrier.bytes)) << 41;
}

void complete_if_due(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  barrier.phase ^= 1u;
  barrier.pending = barrier.expected;
}

Mbarrier read_mbarrier(std::uint64_t place) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(place), 8);
  return unpack_mbarrier(word);
}

void write_mbarrier(std::uint64_t place, const Mbarrier& barrier) {
  const std::uint64_t word = pack_mbarrier(barrier);
  std::memcpy(reinterpret_cast<void*>(place), &word, 8);
}

// What a warp knew when it arrived is known to those who see the phase complete. One clock for all mbarriers of a block is enough
// to find no race where there is none.
void mbarrier_gives(Warp& warp) {
  if (warp.launch->options.checks) warp.block->shadow.give(warp.index, warp.block->shadow.atomic_clock());
}
void mbarrier_takes(Warp& warp) {
  if (warp.launch->options.checks) warp.block->shadow.take(warp.index, warp.block->shadow.atomic_clock());
}

}  // namespace

// All but the last `keep` groups of the lanes are done; keep 0 takes copies that are in no group too where the launch ends for the
// lanes.
void complete_async(Warp& warp, std::uint32_t lanes, std::uint32_t keep) {
  std::uint32_t seen[kLanes] = {};
  // From the newest to the oldest: which lanes of each group are beyond `keep`.
  std::vector<std::uint32_t> due(warp.groups.size(), 0);
  for (std::size_t g = warp.groups.size(); g-- > 0;) {
    for (std::uint32_t rest = warp.groups[g].lanes & lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (seen[lane]++ >= keep) due[g] |= 1u << lane;
    }
  }
  for (std::size_t g = 0; g < warp.groups.size(); ++g) {
    if (due[g] == 0) continue;
    AsyncGroup& group = warp.groups[g];
    for (const AsyncCopy& copy : group.copies) {
      if (((due[g] >> copy.lane) & 1u) != 0) do_copy(warp, copy);
    }
    group.lanes &= ~due[g];
    if (group.lanes != 0) std::erase_if(group.copies, [&](const AsyncCopy& copy) { return ((due[g] >> copy.lane) & 1u) != 0; });
  }
  std::erase_if(warp.groups, [](const AsyncGroup& group) { return group.lanes == 0; });
}

// a, imm: destination in shared memory; b, list_size (as offset): source; c: bytes of the source; d: predicate that ignores the
// source.
bool exec_cp_async(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Access to;
  to.bytes = instruction.bytes;
  to.space = Space::shared;
  compute_addresses(warp, instruction, instruction.bytes, to.addresses);
  if (!resolve(warp, instruction, mask, to)) return false;
  std::uint32_t reads = mask;
  if (instruction.d != kNoOperand) reads &= ~warp.predicate(instruction.d);
  std::uint8_t sizes[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint32_t size = instruction.bytes;
    if (instruction.c != kNoOperand) size = std::min<std::uint32_t>(size, warp.as<std::uint32_t>(instruction.c)[lane]);
    if (((reads >> lane) & 1u) == 0) size = 0;
    if (size == 0) reads &= ~(1u << lane);
    sizes[lane] = static_cast<std::uint8_t>(size);
  }
  Access from;
  from.bytes = instruction.bytes;
  from.space = Space::global;
  from.contiguous = lane_moves().places64(from.addresses, warp.at(instruction.b), static_cast<std::int32_t>(instruction.list_size),
                                          instruction.bytes) &&
                    reads == 0xffffffffu;
  if (reads != 0) {
    Instruction load = instruction;
    load.flags = 0;
    bool partial = false;
    for (int lane = 0; lane < kLanes; ++lane)
      partial = partial || (((reads >> lane) & 1u) != 0 && sizes[lane] != instruction.bytes);
    if (partial) {
      // Only what is read has to be in bounds: lane by lane.
      for (std::uint32_t rest = reads; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        Access one = from;
        one.contiguous = false;
        one.bytes = 1;
        if (!resolve(warp, load, 1u << lane, one)) return false;
        one.addresses[lane] += sizes[lane] - 1u;
        if (!resolve(warp, load, 1u << lane, one)) return false;
      }
    } else {
      if (!resolve(warp, load, reads, from)) return false;
      observe(warp, load, reads, from, true, false);
    }
  }
  if (warp.launch->options.checks) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const auto offset = static_cast<std::uint32_t>(to.addresses[lane]);
      const auto conflict = warp.block->shadow.write(offset, instruction.bytes, warp.index, lane, warp.pc - 1, true);
      if (conflict.found) {
        warp.launch->report(
            "shared_race", warp, instruction, lane,
            fmt::format("an asynchronous copy writes byte {} of shared memory, which warp {} {} with no barrier in between", offset,
                        conflict.other_warp, conflict.other_writes ? "writes" : "reads"),
            "shared memory", false);
      }
    }
  }
  if (warp.launch->options.counters) {
    LineCounters& counters = warp.worker->slots[instruction.slot];
    counters.async_copy_bytes += static_cast<std::uint64_t>(std::popcount(mask)) * instruction.bytes;
    count_shared(warp, instruction, mask, to, true);
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    warp.uncommitted.push_back({from.addresses[lane], static_cast<std::uint32_t>(to.addresses[lane]), instruction.bytes,
                                sizes[lane], static_cast<std::uint8_t>(lane), warp.pc - 1});
  }
  return true;
}

bool exec_cp_commit(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (instruction.imm != 0) return true;  // of bulk copies, which are done at once
  AsyncGroup group;
  group.lanes = mask;
  if (mask == warp.live) {
    group.copies.swap(warp.uncommitted);
  } else {
    for (const AsyncCopy& copy : warp.uncommitted) {
      if (((mask >> copy.lane) & 1u) != 0) group.copies.push_back(copy);
    }
    std::erase_if(warp.uncommitted, [&](const AsyncCopy& copy) { return ((mask >> copy.lane) & 1u) != 0; });
  }
  warp.groups.push_back(std::move(group));
  return true;
}

// imm: groups that may be under way; -1: none, committed or not.
bool exec_cp_wait(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (instruction.imm < 0) {
    Instruction commit;
    exec_cp_commit(warp, commit, mask);
    complete_async(warp, mask, 0);
  } else {
    complete_async(warp, mask, static_cast<std::uint32_t>(instruction.imm));
  }
  return true;
}

bool exec_cp_mbarrier(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Instruction wait;
  wait.imm = -1;
  exec_cp_wait(warp, wait, mask);
  return for_each_space(warp, instruction, mask, 8, [&](const Access& access, std::uint32_t part) {
    for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
      const std::uint64_t place = access.places[std::countr_zero(rest)];
      Mbarrier barrier = read_mbarrier(place);
      // Without .noinc the arrival is counted in addition to those expected, and so changes nothing.
      if (instruction.aux != 0 && barrier.pending > 0) --barrier.pending;
      complete_if_due(barrier);
      write_mbarrier(place, barrier);
    }
    mbarrier_gives(warp);
  });
}

// Lane by lane; b: number, state or parity.
bool exec_mbarrier(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (instruction.aux == kMbarPending) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      warp.as<std::uint32_t>(instruction.dst)[lane] = unpack_mbarrier(warp.as<std::uint64_t>(instruction.b)[lane]).pending;
    }
    return true;
  }
  ++warp.polls;
  return for_each_space(warp, instruction, mask, 8, [&](const Access& access, std::uint32_t part) {
    const bool waits = instruction.aux == kMbarTest || instruction.aux == kMbarTestParity;
    if (!waits) mbarrier_gives(warp);
    for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint64_t place = access.places[lane];
      Mbarrier barrier = read_mbarrier(place);
      const Mbarrier before = barrier;
      const std::uint64_t operand = instruction.b == kNoOperand    ? 1
                                    : instruction.aux == kMbarTest ? warp.as<std::uint64_t>(instruction.b)[lane]
                                                                   : warp.as<std::uint32_t>(instruction.b)[lane];
      const auto number = static_cast<std::uint32_t>(operand);
      bool done = false;
      switch (instruction.aux) {
        case kMbarInit:
          barrier = {number, number, 0, 0};
          break;
        case kMbarInval:
          barrier = {};
          break;
        case kMbarArrive:
          barrier.pending -= std::min(barrier.pending, number);
          break;
        case kMbarArriveDrop:
          barrier.pending -= std::min(barrier.pending, number);
          barrier.expected -= std::min(barrier.expected, number);
          break;
        case kMbarExpectTx:
          barrier.bytes += static_cast<std::int32_t>(number);
          break;
        case kMbarCompleteTx:
          barrier.bytes -= static_cast<std::int32_t>(number);
          break;
        case kMbarArriveExpectTx:
          barrier.bytes += static_cast<std::int32_t>(number);
          barrier.pending -= std::min(barrier.pending, 1u);
          break;
        case kMbarTest:
          done = unpack_mbarrier(operand).phase != barrier.phase;
          break;
        default:
          done = (number & 1u) != barrier.phase;
          break;
      }
      if (waits) {
        auto* to = warp.as<std::uint32_t>(instruction.dst);
        *to = (*to & ~(1u << lane)) | (done ? 1u << lane : 0u);
        if (done) mbarrier_takes(warp);
        continue;
      }
      if (instruction.aux != kMbarInit && instruction.aux != kMbarInval) complete_if_due(barrier);
      write_mbarrier(place, barrier);
      if (warp.launch->options.checks && access.space == Space::shared) {
        warp.block->shadow.initialise(static_cast<std::uint32_t>(access.addresses[lane] & 0xffffffu), 8);
      }
      if (instruction.dst != kNoOperand) warp.as<std::uint64_t>(instruction.dst)[lane] = pack_mbarrier(before);
    }
  });
}

// Bytes of a copy in bulk have come: the mbarrier at this shared address hears of them.
bool complete_bytes(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address, std::uint32_t bytes) {
  Instruction plain = instruction;
  plain.flags = kWideAddress;
  Access barrier;
  barrier.bytes = 8;
  barrier.space = Space::shared;
  barrier.addresses[lane] = address;
  if (!resolve(warp, plain, 1u << lane, barrier)) return false;
  Mbarrier state = read_mbarrier(barrier.places[lane]);
  state.bytes -= static_cast<std::int32_t>(bytes);
  complete_if_due(state);
  write_mbarrier(barrier.places[lane], state);
  mbarrier_gives(warp);
  return true;
}

// a, imm: destination; b, list_size: source; c: bytes; d, target: mbarrier; aux 1: to shared, 2: from shared.
bool exec_cp_bulk(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t bytes = warp.as<std::uint32_t>(instruction.c)[lane];
    if (bytes == 0) continue;
    if (bytes % 16 != 0) {
      warp.launch->report("misaligned", warp, instruction, lane,
                          fmt::format("copies {} bytes in bulk, which is no multiple of 16", bytes), {}, true);
      return false;
    }
    Instruction from_part = instruction, to_part = instruction;
    from_part.flags = kWideAddress;
    to_part.flags = kWideAddress | kStore;
    Access from, to;
    from.bytes = to.bytes = 16;
    from.space = (instruction.aux & 2u) != 0 ? Space::shared : Space::global;
    to.space = (instruction.aux & 1u) != 0 ? Space::shared : Space::global;
    // First and last 16 bytes have to be in bounds; in between is the same allocation.
    const std::uint64_t source =
        warp.as<std::uint64_t>(instruction.b)[lane] + static_cast<std::uint64_t>(static_cast<std::int32_t>(instruction.list_size));
    const std::uint64_t target = warp.as<std::uint64_t>(instruction.a)[lane] + static_cast<std::uint64_t>(instruction.imm);
    std::uint64_t places[2] = {0, 0};
    for (const std::uint32_t at : {bytes - 16u, 0u}) {
      from.addresses[lane] = source + at;
      to.addresses[lane] = target + at;
      if (!resolve(warp, from_part, 1u << lane, from) || !resolve(warp, to_part, 1u << lane, to)) return false;
    }
    places[0] = from.places[lane];
    places[1] = to.places[lane];
    std::memmove(reinterpret_cast<void*>(places[1]), reinterpret_cast<const void*>(places[0]), bytes);
    if (warp.launch->options.checks) {
      if (to.space == Space::shared) {
        warp.block->shadow.write(static_cast<std::uint32_t>(to.addresses[lane] & 0xffffffu), bytes, warp.index, lane, warp.pc - 1);
        warp.block->shadow.initialise(static_cast<std::uint32_t>(to.addresses[lane] & 0xffffffu), bytes);
      } else {
        warp.launch->memory->note_write(reinterpret_cast<const void*>(places[1]), bytes);
      }
    }
    if (warp.launch->options.counters) warp.worker->slots[instruction.slot].async_copy_bytes += bytes;
    if (instruction.d == kNoOperand) continue;
    const std::uint64_t barrier = warp.as<std::uint64_t>(instruction.d)[lane] + instruction.target;
    if (!complete_bytes(warp, instruction, lane, barrier, bytes)) return false;
  }
  return true;
}

}  // namespace kw::vgpu
