// What is known about each word of a block's shared memory, for the checks: initialised, last writer, last readers. Accesses of
// different warps are ordered by barriers (vector clocks of warps); where they are not and one of them writes, it is a race.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kw::vgpu {

using WarpClock = std::array<std::uint32_t, 32>;

class SharedShadow {
 public:
  struct Conflict {
    bool found = false;
    int other_warp = 0, other_lane = 0;
    bool other_writes = false, pending = false;
    std::uint32_t other_instruction = 0;
    std::uint32_t offset = 0;  // of the word
  };

  void start_block(std::uint32_t bytes, int warps);
  // Bytes [offset, offset + bytes) are accessed by a lane. `instruction` is kept for messages.
  Conflict read(std::uint32_t offset, std::uint32_t bytes, int warp, int lane, std::uint32_t instruction);
  Conflict write(std::uint32_t offset, std::uint32_t bytes, int warp, int lane, std::uint32_t instruction, bool pending = false);
  // The first byte of the range that nobody has written; -1 where all are.
  [[nodiscard]] int first_uninitialised(std::uint32_t offset, std::uint32_t bytes) const;
  void initialise(std::uint32_t offset, std::uint32_t bytes);

  // Warps of `who` (bits) come to know of everything that any of them knew.
  void synchronise(std::uint32_t who);
  // Half of it: what a warp knows goes into a clock that others take from (mbarrier, bar.arrive, atomics).
  void give(int warp, WarpClock& to);
  void take(int warp, const WarpClock& from);
  WarpClock& atomic_clock() { return atomic_clock_; }
  std::vector<WarpClock>& clocks() { return clocks_; }

 private:
  struct Word {
    std::uint32_t write_clock = 0, read_clock[2] = {0, 0};
    std::uint32_t write_instruction = 0, read_instruction[2] = {0, 0};
    std::uint8_t write_warp = 0, read_warp[2] = {0, 0};
    std::uint8_t write_mask = 0, read_mask[2] = {0, 0};
    std::uint8_t write_lane = 0, pending = 0;
  };
  [[nodiscard]] bool known(int warp, int other, std::uint32_t clock) const {
    return clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(other)] >= clock;
  }
  std::vector<Word> words_;
  std::vector<std::uint8_t> initialised_;  // the generation of the block that wrote the byte
  std::uint8_t generation_ = 0;
  bool any_pending_ = false;
  std::uint32_t base_clock_ = 1;
  std::vector<WarpClock> clocks_;
  WarpClock atomic_clock_{};
};

}  // namespace kw::vgpu
