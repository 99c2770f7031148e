// What a launch finds around it and no GPU promises: what unwritten memory and registers hold, which multiprocessor runs a block,
// in which order blocks begin, where the clock stands. All of it follows from a seed, whether a launch is checked, counted or
// neither, so that a kernel can neither rely on it nor tell by it how it is being run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw::vgpu {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

// What a block finds where nothing has been written: NaN, a large number of either sign, or zeros, in turns from block to block. A
// value that is used although nobody wrote it is told by at least one of them. Where a launch has fewer blocks, launches take
// turns.
std::uint64_t fill_of(std::uint64_t seed, std::uint64_t launch, std::uint64_t block);
void fill(void* memory, std::size_t bytes, std::uint64_t word);

// Any of them, as on a GPU: two blocks may share one while another has none.
std::uint32_t multiprocessor_of(std::uint64_t launch_seed, std::uint64_t block, int count);

// The order in which a launch begins its teams (clusters, or single blocks).
class TeamOrder {
 public:
  // Teams that a GPU begins together begin in any order: kWindow of them at a time. Of windows the earlier ones come first,
  // because blocks may wait for earlier ones.
  static constexpr std::uint64_t kWindow = 4;

  TeamOrder() = default;
  TeamOrder(std::uint64_t launch_seed, std::uint64_t teams) : seed_(launch_seed), teams_(teams) {}
  [[nodiscard]] std::uint64_t nearly_in_order(std::uint64_t number) const;

  // From here on, a multiple of kWindow, teams come from all over those that are left: runs of neighbours, which share what caches
  // hold, in an order of the seed. The last team, where edges are, is the first.
  void spread_from(std::uint64_t number);
  [[nodiscard]] bool spreads() const { return run_ > 0; }
  [[nodiscard]] std::uint64_t first_spread() const { return from_; }
  [[nodiscard]] std::uint64_t spread(std::uint64_t number) const;

 private:
  std::uint64_t seed_ = 0, teams_ = 0;
  std::uint64_t from_ = 0, run_ = 0, whole_runs_ = 0, start_ = 0, step_ = 1;
};

}  // namespace kw::vgpu
