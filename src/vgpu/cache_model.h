// A set-associative cache of 128-byte lines with four sectors each: what would hit, never what it costs.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace kw::vgpu {

class CacheModel {
 public:
  static constexpr int kWays = 8;
  void resize(std::uint64_t bytes) {
    const std::uint64_t lines = bytes / 128;
    sets_ = std::bit_floor(lines / kWays == 0 ? std::uint64_t{1} : lines / kWays);
    lines_.assign(sets_ * kWays, Line{});
    next_.assign(sets_, 0);
  }
  // At once: lines of an earlier epoch are not found again.
  void clear() { epoch_ = (epoch_ + 1) & 0xffffu; }
  // Sectors (bits 0 to 3) of the line that are there; the others are there afterwards.
  unsigned access(std::uint64_t line, unsigned sectors) {
    const std::uint64_t set = (line ^ (line >> 13)) & (sets_ - 1);
    Line* ways = &lines_[set * kWays];
    const std::uint64_t tag = (line + 1) ^ (epoch_ << 48);
    for (int way = 0; way < kWays; ++way) {
      if (ways[way].tag == tag) {
        const unsigned hit = ways[way].sectors & sectors;
        ways[way].sectors |= sectors;
        return hit;
      }
    }
    Line& victim = ways[next_[set]++ % kWays];
    victim = {tag, sectors};
    return 0;
  }

 private:
  struct Line {
    std::uint64_t tag = 0;
    std::uint64_t sectors = 0;
  };
  std::uint64_t sets_ = 1;
  std::uint64_t epoch_ = 0;
  std::vector<Line> lines_;
  std::vector<std::uint8_t> next_;
};

}  // namespace kw::vgpu
