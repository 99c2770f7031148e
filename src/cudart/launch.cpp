// Launching: what CUDA refuses before a kernel starts, the parameters, and what a kernel's faults mean for later calls.
#include <cstring>
#include <utility>

#include "cudart/runtime.h"
#include "vgpu/occupancy.h"
#include "vgpu/report_json.h"

namespace kw::cudart {
namespace {

constexpr std::uint64_t kMostBlocksX = 0x7fffffff, kMostBlocksYz = 65535, kMostThreadsZ = 64;

std::uint64_t product_of(const Dim3& dim) { return std::uint64_t{dim.x} * dim.y * dim.z; }

std::string in_words(const Dim3& dim) { return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z); }

// What cudaDeviceSynchronize answers after a launch with this finding; kSuccess for what a GPU would not notice.
Code fault_of(const vgpu::Finding& finding) {
  static const std::map<std::string_view, Code> kFaults = {
      {"out_of_bounds", kIllegalAddress},   {"misaligned", kMisalignedAddress}, {"trap", kLaunchFailure},    {"assert", kAssert},
      {"unsupported", kIllegalInstruction}, {"timeout", kLaunchTimeout},        {"deadlock", kLaunchTimeout}};
  const auto found = kFaults.find(finding.kind);
  return found == kFaults.end() ? (finding.fatal ? kLaunchFailure : kSuccess) : found->second;
}

}  // namespace

Code Runtime::launch_limit(const Kernel& kernel, Code code, std::string message) {
  vgpu::Finding finding;
  finding.kind = "launch_limit";
  finding.kernel = kernel.name;
  finding.message = std::move(message);
  finding.fatal = true;
  log_.finding(finding);
  return code;
}

std::optional<std::string> Runtime::unfit_registers(const Kernel& kernel, std::uint64_t threads) const {
  if (!kernel.registers_known) return std::nullopt;
  const auto occupancy = vgpu::occupancy_of(sheet_, static_cast<int>(threads), kernel.registers, 0);
  if (occupancy.blocks_per_sm > 0) return std::nullopt;
  return std::to_string(threads) + " threads of " + std::to_string(kernel.registers) + " registers each do not fit: a block has " +
         std::to_string(sheet_.per_sm.registers_per_block) + " on " + sheet_.name;
}

Code Runtime::check_launch(const Kernel& kernel, const LaunchRequest& request) {
  const Dim3 &grid = request.grid, &block = request.block;
  const std::uint64_t threads = product_of(block);
  const vgpu::Limits& limits = device_->options().limits;
  const auto refuse = [&](Code code, std::string message) { return launch_limit(kernel, code, std::move(message)); };
  if (product_of(grid) == 0 || threads == 0)
    return refuse(kInvalidConfiguration, "a grid of " + in_words(grid) + " blocks of " + in_words(block) + " threads is empty");
  if (grid.x > kMostBlocksX || grid.y > kMostBlocksYz || grid.z > kMostBlocksYz)
    return refuse(kInvalidConfiguration,
                  "a grid of " + in_words(grid) + " blocks is too large: 2147483647x65535x65535 is the most");
  if (threads > static_cast<std::uint64_t>(limits.max_threads_per_block) || block.z > kMostThreadsZ)
    return refuse(kInvalidConfiguration, "a block of " + in_words(block) +
                                             " threads is too large: " + std::to_string(limits.max_threads_per_block) +
                                             " threads are the most, 64 of them in z");
  if (kernel.facts.max_threads != 0 && threads > kernel.facts.max_threads)
    return refuse(kInvalidValue, "a block of " + std::to_string(threads) + " threads is above the kernel's __launch_bounds__ of " +
                                     std::to_string(kernel.facts.max_threads));
  const std::uint64_t shared = request.dynamic_shared + kernel.facts.static_shared;
  const std::uint64_t allowed =
      kernel.max_dynamic_shared < 0
          ? limits.shared_per_block
          : std::max<std::uint64_t>(limits.shared_per_block,
                                    static_cast<std::uint64_t>(kernel.max_dynamic_shared) + kernel.facts.static_shared);
  if (shared > limits.shared_per_block_optin)
    return refuse(kInvalidValue, std::to_string(shared) + " bytes of shared memory a block are above the " +
                                     std::to_string(limits.shared_per_block_optin) + " of " + sheet_.name);
  if (shared > allowed)
    return refuse(kInvalidValue, std::to_string(shared) + " bytes of shared memory a block are above " + std::to_string(allowed) +
                                     ": set cudaFuncAttributeMaxDynamicSharedMemorySize for the kernel first");
  if (auto unfit = unfit_registers(kernel, threads)) return refuse(kLaunchOutOfResources, *unfit);
  const std::uint64_t cluster = product_of(request.cluster);
  if (cluster > 1) {
    if (limits.cc_major < 9)
      return refuse(kNotSupported, sheet_.name + " has no clusters of blocks: they need compute capability 9.0");
    if (grid.x % request.cluster.x != 0 || grid.y % request.cluster.y != 0 || grid.z % request.cluster.z != 0 || cluster > 16)
      return refuse(kInvalidClusterSize,
                    "a grid of " + in_words(grid) + " blocks is no whole number of clusters of " + in_words(request.cluster));
  }
  if (request.cooperative) {
    const auto occupancy =
        vgpu::occupancy_of(sheet_, static_cast<int>(threads), kernel.registers_known ? kernel.registers : 0, shared);
    const std::uint64_t together =
        static_cast<std::uint64_t>(occupancy.blocks_per_sm) * static_cast<std::uint64_t>(sheet_.sm_count);
    if (product_of(grid) > together)
      return refuse(kCooperativeLaunchTooLarge, "a cooperative grid of " + std::to_string(product_of(grid)) +
                                                    " blocks is more than the " + std::to_string(together) + " that " +
                                                    sheet_.name + " runs at once");
  }
  return kSuccess;
}

Code Runtime::launch(Kernel& kernel, const LaunchRequest& request, void** args) {
  if (const Code code = check_launch(kernel, request); code != kSuccess) return code;
  std::vector<std::byte> params(kernel.facts.param_bytes);
  for (std::size_t i = 0; i < kernel.facts.param_offsets.size(); ++i) {
    if (args == nullptr || args[i] == nullptr) return kInvalidValue;
    std::memcpy(params.data() + kernel.facts.param_offsets[i], args[i], kernel.facts.param_sizes[i]);
  }
  std::fflush(stdout);  // printf of the kernel comes after the program's own
  vgpu::DeviceOptions& options = device_->mutable_options();
  const double sample = std::exchange(options.sample_seconds, request.cooperative ? 0 : options.sample_seconds);
  auto outcome = device_->launch(*kernel.function, request.grid, request.block, static_cast<std::uint32_t>(request.dynamic_shared),
                                 params, request.cluster);
  options.sample_seconds = sample;
  if (!outcome) {
    log_.error(outcome.error());
    return kLaunchFailure;
  }
  vgpu::LaunchRecord record;
  record.index = ++launches_;
  record.kernel = kernel.name;
  record.grid = request.grid;
  record.block = request.block;
  record.dynamic_shared = static_cast<std::uint32_t>(request.dynamic_shared);
  record.static_shared = kernel.facts.static_shared;
  record.local_bytes = kernel.facts.local_bytes;
  record.registers = kernel.registers_known ? kernel.registers : 0;
  record.tensor_kind = kernel.tensor_kind;
  record.report = std::move(*outcome);
  log_.launch(record);
  for (const vgpu::Finding& finding : record.report.findings) {
    if (finding.kind == "launch_limit") return kInvalidConfiguration;
    if (const Code fault = fault_of(finding); fault != kSuccess && sticky() == kSuccess) fail_from_now(fault);
  }
  return kSuccess;  // as on a GPU, a fault shows at the next call
}

}  // namespace kw::cudart
