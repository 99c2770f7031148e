// Atomic updates of memory, lane by lane in the order of the lanes.
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "vgpu/access.h"
#include "vgpu/exec.h"

namespace kw::vgpu {
namespace {

template <typename T>
std::uint64_t update(std::uint64_t place, std::uint64_t value, AtomicFn combine, bool alone) {
  auto* word = reinterpret_cast<T*>(place);
  if (alone) {
    const T old = *word;
    *word = static_cast<T>(combine(old, value));
    return old;
  }
  T old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, static_cast<T>(combine(old, value)), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return old;
}

template <typename T>
std::uint64_t swap_if_equal(std::uint64_t place, std::uint64_t expected, std::uint64_t desired, bool alone) {
  auto* word = reinterpret_cast<T*>(place);
  T old = static_cast<T>(expected);
  if (alone) {
    old = *word;
    if (old == static_cast<T>(expected)) *word = static_cast<T>(desired);
    return old;
  }
  __atomic_compare_exchange_n(word, &old, static_cast<T>(desired), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return old;
}

std::uint64_t value_of(const std::byte* from, int bytes, int lane) {
  return bytes == 8 ? reinterpret_cast<const std::uint64_t*>(from)[lane] : reinterpret_cast<const std::uint32_t*>(from)[lane];
}

void set_value(std::byte* to, int bytes, int lane, std::uint64_t value) {
  if (bytes == 8) {
    reinterpret_cast<std::uint64_t*>(to)[lane] = value;
  } else {
    reinterpret_cast<std::uint32_t*>(to)[lane] = static_cast<std::uint32_t>(value);
  }
}

void count_atomic(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (!warp.launch->options.counters) return;
  LineCounters& counters = warp.worker->slots[instruction.slot];
  ++counters.atomics;
  counters.atomic_lanes += static_cast<std::uint64_t>(std::popcount(mask));
}

void order_before(Warp& warp, const Instruction& instruction) {
  if ((instruction.flags & kRelease) != 0) note_release(warp);
}

bool nobody_else(const Warp& warp, const Access& access) {
  return warp.launch->single_thread || access.space == Space::local ||
         (access.space == Space::shared && warp.block->cluster == nullptr);
}

std::mutex& lock_of_128() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

// b or the list: values, then (of atom) where the old ones go.
bool exec_atom(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  const std::uint32_t bytes = static_cast<std::uint32_t>(instruction.bytes) * instruction.count;
  count_atomic(warp, instruction, mask);
  order_before(warp, instruction);
  return for_each_space(warp, instruction, mask, bytes, [&](const Access& access, std::uint32_t part) {
    observe(warp, instruction, part, access, true, true);
    const bool alone = nobody_else(warp, access);
    for (std::uint32_t e = 0; e < instruction.count; ++e) {
      const std::byte* values = warp.at(refs[e]);
      std::byte* olds = instruction.dst == kNoOperand ? nullptr : warp.at(refs[instruction.count + e]);
      for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const std::uint64_t place = access.places[lane] + e * instruction.bytes;
        const std::uint64_t value = value_of(values, instruction.dst_bytes, lane);
        std::uint64_t old = 0;
        if (instruction.bytes == 4) {
          old = update<std::uint32_t>(place, value, instruction.atomic, alone);
        } else if (instruction.bytes == 8) {
          old = update<std::uint64_t>(place, value, instruction.atomic, alone);
        } else if (instruction.bytes == 2) {
          old = update<std::uint16_t>(place, value, instruction.atomic, alone);
        } else {
          old = update<std::uint8_t>(place, value, instruction.atomic, alone);
        }
        if (olds != nullptr) set_value(olds, instruction.dst_bytes, lane, old);
      }
    }
    note_acquire(warp);
  });
}

// b: expected; c: desired.
bool exec_cas(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  count_atomic(warp, instruction, mask);
  order_before(warp, instruction);
  return for_each_space(warp, instruction, mask, instruction.bytes, [&](const Access& access, std::uint32_t part) {
    observe(warp, instruction, part, access, true, true);
    const bool alone = nobody_else(warp, access);
    const std::byte* expected = warp.at(instruction.b);
    const std::byte* desired = warp.at(instruction.c);
    // The old values go to a copy: the destination may be one of the sources.
    std::uint64_t olds[kLanes] = {};
    for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint64_t a = value_of(expected, instruction.dst_bytes, lane), b = value_of(desired, instruction.dst_bytes, lane);
      if (instruction.bytes == 8) {
        olds[lane] = swap_if_equal<std::uint64_t>(access.places[lane], a, b, alone);
      } else if (instruction.bytes == 4) {
        olds[lane] = swap_if_equal<std::uint32_t>(access.places[lane], a, b, alone);
      } else {
        olds[lane] = swap_if_equal<std::uint16_t>(access.places[lane], a, b, alone);
      }
    }
    if (instruction.dst != kNoOperand) {
      for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        set_value(warp.at(instruction.dst), instruction.dst_bytes, lane, olds[lane]);
      }
    }
    note_acquire(warp);
  });
}

// cas (c is there) and exch of 128 bits: one lock for all, because not every processor has such an instruction.
bool exec_atom128(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  count_atomic(warp, instruction, mask);
  order_before(warp, instruction);
  return for_each_space(warp, instruction, mask, 16, [&](const Access& access, std::uint32_t part) {
    observe(warp, instruction, part, access, true, true);
    const std::lock_guard lock(lock_of_128());
    for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      Lane128 old;
      std::memcpy(&old, reinterpret_cast<const void*>(access.places[lane]), 16);
      const Lane128 first = warp.as<Lane128>(instruction.b)[lane];
      if (instruction.c == kNoOperand) {
        std::memcpy(reinterpret_cast<void*>(access.places[lane]), &first, 16);
      } else if (old.low == first.low && old.high == first.high) {
        std::memcpy(reinterpret_cast<void*>(access.places[lane]), &warp.as<Lane128>(instruction.c)[lane], 16);
      }
      if (instruction.dst != kNoOperand) warp.as<Lane128>(instruction.dst)[lane] = old;
    }
    note_acquire(warp);
  });
}

}  // namespace kw::vgpu
