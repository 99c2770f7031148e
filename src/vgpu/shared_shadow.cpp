#include "vgpu/shared_shadow.h"

#include <algorithm>
#include <cstring>

namespace kw::vgpu {

void SharedShadow::start_block(std::uint32_t bytes, int warps) {
  const std::size_t words = bytes / 4 + 2;
  if (words_.size() < words) words_.resize(words);
  if (initialised_.size() < bytes + 8u) initialised_.resize(bytes + 8u, generation_ == 0 ? 255 : 0);
  if (++generation_ == 0) {
    std::fill(initialised_.begin(), initialised_.end(), std::uint8_t{0});
    generation_ = 1;
  }
  // Every clock starts beyond all clocks of earlier blocks, so that what they left in the words is known to all.
  for (const WarpClock& clock : clocks_) base_clock_ = std::max(base_clock_, *std::max_element(clock.begin(), clock.end()));
  ++base_clock_;
  clocks_.assign(static_cast<std::size_t>(warps), WarpClock{});
  for (WarpClock& clock : clocks_) clock.fill(base_clock_);
  for (int warp = 0; warp < warps; ++warp) ++clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
  atomic_clock_.fill(0);
  if (any_pending_) {
    for (Word& word : words_) word.pending = 0;
    any_pending_ = false;
  }
}

int SharedShadow::first_uninitialised(std::uint32_t offset, std::uint32_t bytes) const {
  const std::uint8_t* known = initialised_.data() + offset;
  unsigned wrong = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) wrong |= static_cast<unsigned>(known[i] ^ generation_);
  if (wrong == 0) return -1;
  for (std::uint32_t i = 0;; ++i) {
    if (known[i] != generation_) return static_cast<int>(i);
  }
}

void SharedShadow::initialise(std::uint32_t offset, std::uint32_t bytes) {
  std::memset(initialised_.data() + offset, generation_, bytes);
}

SharedShadow::Conflict SharedShadow::read(std::uint32_t offset, std::uint32_t bytes, int warp, int lane,
                                          std::uint32_t instruction) {
  Conflict conflict;
  (void)lane;
  const std::uint32_t clock = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
  for (std::uint32_t at = offset; at < offset + bytes; at = (at | 3u) + 1) {
    Word& word = words_[at / 4];
    const std::uint32_t stop = std::min(offset + bytes, (at | 3u) + 1);
    const auto mask = static_cast<std::uint8_t>(((1u << (stop - at)) - 1u) << (at & 3u));
    if ((word.write_mask & mask) != 0 &&
        ((word.write_warp != warp && !known(warp, word.write_warp, word.write_clock)) || word.pending != 0)) {
      conflict = {true, word.write_warp, word.write_lane, true, word.pending != 0, word.write_instruction, at};
    }
    int place = 0;
    if (word.read_warp[0] != warp || word.read_clock[0] == 0) {
      if (word.read_warp[1] == warp && word.read_clock[1] != 0) {
        place = 1;
      } else {
        // The older one gives way: the one that most warps already know of.
        place = word.read_clock[0] <= word.read_clock[1] ? 0 : 1;
      }
    }
    const bool same = word.read_warp[place] == warp && word.read_clock[place] == clock;
    word.read_mask[place] = static_cast<std::uint8_t>(same ? (word.read_mask[place] | mask) : mask);
    word.read_warp[place] = static_cast<std::uint8_t>(warp);
    word.read_clock[place] = clock;
    word.read_instruction[place] = instruction;
  }
  return conflict;
}

SharedShadow::Conflict SharedShadow::write(std::uint32_t offset, std::uint32_t bytes, int warp, int lane, std::uint32_t instruction,
                                           bool pending) {
  Conflict conflict;
  const std::uint32_t clock = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
  for (std::uint32_t at = offset; at < offset + bytes; at = (at | 3u) + 1) {
    Word& word = words_[at / 4];
    const std::uint32_t stop = std::min(offset + bytes, (at | 3u) + 1);
    const auto mask = static_cast<std::uint8_t>(((1u << (stop - at)) - 1u) << (at & 3u));
    const bool reader_found = conflict.found && !conflict.other_writes;  // stays: what was read is more than a value written twice
    if (!reader_found && (word.write_mask & mask) != 0 && word.write_warp != warp &&
        !known(warp, word.write_warp, word.write_clock)) {
      conflict = {true, word.write_warp, word.write_lane, true, false, word.write_instruction, at};
    }
    for (int place = 0; place < 2; ++place) {
      if ((word.read_mask[place] & mask) != 0 && word.read_warp[place] != warp &&
          !known(warp, word.read_warp[place], word.read_clock[place])) {
        conflict = {true, word.read_warp[place], 0, false, false, word.read_instruction[place], at};
      }
    }
    const bool same = word.write_warp == warp && word.write_clock == clock;
    word.write_mask = static_cast<std::uint8_t>(same ? (word.write_mask | mask) : mask);
    word.write_warp = static_cast<std::uint8_t>(warp);
    word.write_lane = static_cast<std::uint8_t>(lane);
    word.write_clock = clock;
    word.write_instruction = instruction;
    word.pending = pending ? 1 : 0;
    any_pending_ = any_pending_ || pending;
  }
  return conflict;
}

void SharedShadow::synchronise(std::uint32_t who) {
  WarpClock all{};
  for (std::size_t warp = 0; warp < clocks_.size(); ++warp) {
    if (((who >> warp) & 1u) == 0) continue;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], clocks_[warp][i]);
  }
  for (std::size_t warp = 0; warp < clocks_.size(); ++warp) {
    if (((who >> warp) & 1u) == 0) continue;
    clocks_[warp] = all;
    ++clocks_[warp][warp];
  }
}

void SharedShadow::give(int warp, WarpClock& to) {
  WarpClock& own = clocks_[static_cast<std::size_t>(warp)];
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], own[i]);
  ++own[static_cast<std::size_t>(warp)];
}

void SharedShadow::take(int warp, const WarpClock& from) {
  WarpClock& own = clocks_[static_cast<std::size_t>(warp)];
  for (std::size_t i = 0; i < from.size(); ++i) own[i] = std::max(own[i], from[i]);
}

}  // namespace kw::vgpu
