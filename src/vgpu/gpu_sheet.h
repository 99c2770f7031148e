// The data sheet of a GPU: published figures with their sources. It never measures anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vgpu/device.h"

namespace kw::vgpu {

struct GpuSheet {
  std::string id, name, architecture;
  std::vector<std::string> sources;
  int cc_major = 0, cc_minor = 0;

  int sm_count = 0;
  double base_clock_mhz = 0, boost_clock_mhz = 0;
  std::uint64_t memory_bytes = 0;
  std::string memory_type;
  double memory_gb_per_s = 0;
  int memory_bus_bits = 0;
  std::uint64_t l2_bytes = 0;
  std::optional<double> l2_bytes_per_clock;  // of the whole chip, where it is published

  struct PerSm {
    std::uint32_t l1_and_shared_bytes = 0;
    std::uint32_t shared_bytes = 0, shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0;
    std::uint32_t shared_reserved_per_block = 0, shared_allocation_unit = 0, shared_bytes_per_clock = 0;
    int registers = 0, registers_per_block = 0, registers_per_thread = 0, register_allocation_unit = 0;
    int threads = 0, blocks = 0, schedulers = 0;
  } per_sm;

  struct Rates {  // results per clock and SM
    double fp32 = 0, fp64 = 0, fp16 = 0, int32 = 0, special = 0;
  } rates;

  std::map<std::string, double> peak_tflops;     // fp32, fp64, fp16, tensor_fp16, tensor_bf16, tensor_tf32, tensor_fp64, ...
  std::map<std::string, double> latency_cycles;  // shared, l1, l2, memory; only what is published

  [[nodiscard]] double clock_hz() const { return boost_clock_mhz * 1e6; }
  [[nodiscard]] std::string compute_capability() const;  // "8.0"
};

// `what` names the source of the text in errors.
Result<GpuSheet> parse_gpu_sheet(std::string_view text, std::string_view what);

// By id, as "a100" (case, spaces, '-' and '_' do not matter), from the sheets that are part of the program; or the path of a file
// that ends in .json.
Result<GpuSheet> load_gpu_sheet(std::string_view name_or_file);

// The ids of the sheets that are part of the program.
std::vector<std::string> gpu_sheet_names();

// What the virtual GPU has to respect. `host_bytes` bounds the memory that it gives out; 0: the sheet alone does.
Limits limits_of(const GpuSheet& sheet, std::uint64_t host_bytes = 0);

inline constexpr std::string_view kDefaultGpu = "a100";

}  // namespace kw::vgpu
