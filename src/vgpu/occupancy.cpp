#include "vgpu/occupancy.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

template <typename T>
T rounded_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

constexpr int kWarpSize = 32;

// Registers are given to whole warps, and warps are spread evenly over the schedulers, each with its own part of the registers.
int blocks_by_registers(const GpuSheet& sheet, int warps, int registers) {
  if (registers == 0) return sheet.per_sm.blocks;
  if (registers > sheet.per_sm.registers_per_thread) return 0;
  const int per_warp = rounded_up(registers * kWarpSize, sheet.per_sm.register_allocation_unit);
  if (per_warp * rounded_up(warps, sheet.per_sm.schedulers) > sheet.per_sm.registers_per_block) return 0;
  const int per_scheduler = sheet.per_sm.registers / sheet.per_sm.schedulers / per_warp;
  return per_scheduler * sheet.per_sm.schedulers / warps;
}

int blocks_by_shared(const GpuSheet& sheet, std::uint64_t shared) {
  if (shared > sheet.per_sm.shared_bytes_per_block_optin) return 0;
  const std::uint64_t each =
      rounded_up<std::uint64_t>(shared + sheet.per_sm.shared_reserved_per_block, sheet.per_sm.shared_allocation_unit);
  return each == 0 ? sheet.per_sm.blocks : static_cast<int>(sheet.per_sm.shared_bytes / each);
}

}  // namespace

Occupancy occupancy_of(const GpuSheet& sheet, int threads_per_block, int registers, std::uint64_t shared) {
  Occupancy result;
  if (threads_per_block < 1 || threads_per_block > 1024) {
    result.limiter = "threads";
    return result;
  }
  const int warps = (threads_per_block + kWarpSize - 1) / kWarpSize;
  const int most_warps = sheet.per_sm.threads / kWarpSize;
  const std::pair<const char*, int> limits[] = {{"threads", most_warps / warps},
                                                {"blocks", sheet.per_sm.blocks},
                                                {"registers", blocks_by_registers(sheet, warps, registers)},
                                                {"shared memory", blocks_by_shared(sheet, shared)}};
  const auto& least =
      *std::min_element(std::begin(limits), std::end(limits), [](const auto& a, const auto& b) { return a.second < b.second; });
  result.blocks_per_sm = least.second;
  result.limiter = least.first;
  result.warps_per_sm = result.blocks_per_sm * warps;
  result.share = static_cast<double>(result.warps_per_sm) / most_warps;
  return result;
}

std::uint64_t shared_for_blocks(const GpuSheet& sheet, int blocks_per_sm, std::uint64_t static_shared) {
  if (blocks_per_sm < 1) return 0;
  const std::uint64_t unit = sheet.per_sm.shared_allocation_unit;
  const std::uint64_t each = sheet.per_sm.shared_bytes / static_cast<std::uint64_t>(blocks_per_sm) / unit * unit;
  const std::uint64_t taken = sheet.per_sm.shared_reserved_per_block + static_shared;
  if (each <= taken) return 0;
  const std::uint64_t most = sheet.per_sm.shared_bytes_per_block_optin;
  return std::min(each - taken, most > static_shared ? most - static_shared : 0);
}

}  // namespace kw::vgpu
