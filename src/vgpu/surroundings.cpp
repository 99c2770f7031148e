#include "vgpu/surroundings.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace kw::vgpu {
namespace {

// Runs of neighbours in a sample: long enough for what they share, and at least so many of them.
constexpr std::uint64_t kLongestRun = 16, kRuns = 32;

// As float64, float32, float16 and bfloat16 alike: NaN, large, large and negative, zero. As integers: -1, large, negative, zero.
constexpr std::array<std::uint64_t, 4> kFills{~0ull, 0x7b7b7b7b7b7b7b7bull, 0xfafafafafafafafaull, 0};

// A step that meets all of `count` places before it meets one again.
std::uint64_t step_through(std::uint64_t count, std::uint64_t draw) {
  std::uint64_t step = 1 + draw % count;
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

}  // namespace

// SplitMix64.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + (b + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// A kernel that is launched every fourth time has other turns than its own, too.
std::uint64_t fill_of(std::uint64_t seed, std::uint64_t launch, std::uint64_t block) {
  const std::uint64_t turn = launch + launch / kFills.size();
  return kFills[(mixed(seed, 1) + turn + block) % kFills.size()];
}

void fill(void* memory, std::size_t bytes, std::uint64_t word) {
  std::memset(memory, static_cast<int>(word & 0xff), bytes);  // all bytes of a fill are the same
}

std::uint32_t multiprocessor_of(std::uint64_t launch_seed, std::uint64_t block, int count) {
  return static_cast<std::uint32_t>(mixed(mixed(launch_seed, 2), block) % static_cast<std::uint64_t>(std::max(count, 1)));
}

std::uint64_t TeamOrder::nearly_in_order(std::uint64_t number) const {
  const std::uint64_t window = number / kWindow, begin = window * kWindow;
  const std::uint64_t size = std::min(kWindow, teams_ - begin);
  const std::uint64_t draw = mixed(mixed(seed_, 3), window);
  return begin + (draw + (number - begin) * step_through(size, draw >> 32)) % size;
}

void TeamOrder::spread_from(std::uint64_t number) {
  from_ = number;
  run_ = std::clamp<std::uint64_t>(number / kRuns, 1, kLongestRun);
  whole_runs_ = (teams_ - from_ - 1) / run_;
  if (whole_runs_ == 0) return;
  start_ = mixed(seed_, 4) % whole_runs_;
  step_ = step_through(whole_runs_, mixed(seed_, 5));
}

std::uint64_t TeamOrder::spread(std::uint64_t number) const {
  if (number == from_) return teams_ - 1;
  const std::uint64_t i = number - from_ - 1, nth = i / run_;
  const std::uint64_t run = nth < whole_runs_ ? (start_ + nth * step_) % whole_runs_ : nth;
  return from_ + run * run_ + i % run_;
}

}  // namespace kw::vgpu
