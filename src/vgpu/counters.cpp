#include "vgpu/counters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "vgpu/access.h"

namespace kw::vgpu {

namespace {

// Nothing but numbers of 64 bits.
static_assert(std::is_trivially_copyable_v<LineCounters> && sizeof(LineCounters) % sizeof(std::uint64_t) == 0);
using Numbers = std::array<std::uint64_t, sizeof(LineCounters) / sizeof(std::uint64_t)>;

}  // namespace

void LineCounters::add(const LineCounters& other) {
  auto sum = std::bit_cast<Numbers>(*this);
  const auto more = std::bit_cast<Numbers>(other);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  *this = std::bit_cast<LineCounters>(sum);
}

void LineCounters::scale(double by) {
  auto numbers = std::bit_cast<Numbers>(*this);
  for (std::uint64_t& number : numbers) number = static_cast<std::uint64_t>(std::llround(static_cast<double>(number) * by));
  *this = std::bit_cast<LineCounters>(numbers);
}

void Counters::scale_all(double by) {
  scale(by);
  for (auto& [place, line] : lines) line.scale(by);
}

namespace {

void count_line(Warp& warp, LineCounters& counters, std::uint64_t line, unsigned sectors, bool writes) {
  const auto number = static_cast<std::uint64_t>(std::popcount(sectors));
  unsigned missed = sectors;
  if (!writes) {
    const unsigned hit = warp.block->l1.access(line, sectors);
    counters.l1_hits += static_cast<std::uint64_t>(std::popcount(hit));
    missed &= ~hit;
    counters.l1_misses += static_cast<std::uint64_t>(std::popcount(missed));
    counters.global_load_sectors += number;
  } else {
    counters.global_store_sectors += number;
  }
  if (missed == 0) return;
  const std::lock_guard lock(warp.launch->l2_mutex);
  const unsigned hit = warp.launch->l2->access(line, missed);
  counters.l2_hits += static_cast<std::uint64_t>(std::popcount(hit));
  const auto to_memory = static_cast<std::uint64_t>(std::popcount(missed & ~hit));
  counters.l2_misses += to_memory;
  counters.dram_bytes += to_memory * 32;
}

}  // namespace

void count_global(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool writes) {
  LineCounters& counters = warp.worker->slots[instruction.slot];
  const std::uint64_t bytes = static_cast<std::uint64_t>(std::popcount(mask)) * access.bytes;
  ++(writes ? counters.global_store_requests : counters.global_load_requests);
  (writes ? counters.global_store_bytes : counters.global_load_bytes) += bytes;
  // Distinct lines of 128 bytes with their sectors.
  std::uint64_t lines[2 * kLanes];
  unsigned sectors[2 * kLanes];
  int size = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t place = access.places[std::countr_zero(rest)];
    for (std::uint64_t sector = place / 32; sector <= (place + access.bytes - 1) / 32; ++sector) {
      const std::uint64_t line = sector / 4;
      int at = size - 1;
      while (at >= 0 && lines[at] != line) --at;
      if (at < 0) {
        at = size++;
        lines[at] = line;
        sectors[at] = 0;
      }
      sectors[at] |= 1u << (sector % 4);
    }
  }
  for (int i = 0; i < size; ++i) count_line(warp, counters, lines[i], sectors[i], writes);
}

// 32 banks of 4 bytes: lanes that need different words of the same bank take turns. Accesses of 8 and 16 bytes go by halves and
// quarters of the warp.
void count_shared(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool writes) {
  LineCounters& counters = warp.worker->slots[instruction.slot];
  ++(writes ? counters.shared_store_requests : counters.shared_load_requests);
  counters.shared_bytes += static_cast<std::uint64_t>(std::popcount(mask)) * access.bytes;
  const int lanes_per_phase = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;
  std::uint64_t passes = 0, phases = 0;
  for (int first = 0; first < kLanes; first += lanes_per_phase) {
    std::uint32_t words[32][32];
    std::uint8_t depth[32] = {};
    std::uint8_t deepest = 0;
    for (int lane = first; lane < first + lanes_per_phase; ++lane) {
      if (((mask >> lane) & 1u) == 0) continue;
      const auto begin = static_cast<std::uint32_t>(access.addresses[lane]);
      for (std::uint32_t word = begin / 4; word <= (begin + access.bytes - 1) / 4; ++word) {
        const std::uint32_t bank = word % 32;
        bool known = false;
        for (int i = 0; i < depth[bank] && !known; ++i) known = words[bank][i] == word;
        if (known || depth[bank] == 32) continue;
        words[bank][depth[bank]++] = word;
        deepest = std::max(deepest, depth[bank]);
      }
    }
    if (deepest == 0) continue;
    ++phases;
    passes += deepest;
  }
  counters.shared_wavefronts += passes;
  counters.shared_conflicts += passes - phases;
}

}  // namespace kw::vgpu
