// A virtual GPU: loads PTX, owns its memory, runs kernels on the CPU with checks and counters. What a kernel does wrong is a
// Finding in the report of its launch, never a crash and never an exception. Calls on one Device are serialised by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vgpu/counters.h"

namespace kw::vgpu {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

// Of a GPU; the defaults are an A100's.
struct Limits {
  int sm_count = 108;
  int max_threads_per_block = 1024;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  std::uint32_t shared_per_block = 48 * 1024;  // without opting in
  std::uint32_t shared_per_block_optin = 163 * 1024;
  std::uint32_t shared_per_sm = 164 * 1024;
  int registers_per_sm = 65536;
  int registers_per_block = 65536;
  int warp_size = 32;
  int cc_major = 8, cc_minor = 0;
  std::uint64_t l1_bytes = 192 * 1024;
  std::uint64_t l2_bytes = 40ull << 20;
  std::uint64_t global_bytes = 4ull << 30;  // what allocate() gives at most in all
  double clock_hz = 1.41e9;
};

struct DeviceOptions {
  Limits limits;
  bool checks = true;
  bool counters = true;
  int threads = 0;                     // 0: as many as the machine has cores
  double launch_deadline_seconds = 0;  // 0: none
  double sample_seconds = 0;           // after which a launch begins no further block; 0: all blocks run
  std::uint64_t seed = 0;              // of what nothing promises; see surroundings.h
};

// What a check saw; becomes a Diagnosis.
struct Finding {
  std::string kind;  // out_of_bounds, misaligned, uninitialised, shared_race, global_race, divergent_barrier, launch_limit, trap,
                     // assert, deadlock, timeout, unsupported
  std::string message;  // a sentence; addresses are offsets into the named allocation
  std::string kernel, file;
  int line = 0;  // of the source, from -lineinfo; 0 where unknown
  int ptx_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string allocation;
  std::uint64_t count = 1;  // how often in this launch
  bool fatal = false;       // it stopped the launch
};

struct LaunchReport {
  std::vector<Finding> findings;
  Counters counters;  // of all blocks: where the launch was sampled, by what the sample counted
  double seconds = 0;
  std::uint64_t blocks = 0, blocks_run = 0;  // fewer than all ran where the launch was sampled
  [[nodiscard]] bool sampled() const { return blocks_run < blocks; }
  [[nodiscard]] bool ok() const { return findings.empty(); }
};

// What a kernel asks for, without running it.
struct KernelFacts {
  std::string name;
  std::uint32_t static_shared = 0, local_bytes = 0, param_bytes = 0;
  std::vector<std::uint32_t> param_offsets, param_sizes;
  std::uint32_t max_threads = 0;   // .maxntid or .reqntid; 0 where not given
  Dim3 required_threads{0, 0, 0};  // .reqntid
  int registers = 0;               // declared ones, 32 bits each: an upper bound, what ptxas -v says is better
};

class Module;
class Function;

class Device {
 public:
  explicit Device(DeviceOptions options = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // An error names the line. An instruction that isn't supported is an error that names it, with its line. The module lives as long
  // as the Device or until unload.
  Result<const Module*> load(std::string_view ptx, std::string name);
  Status unload(const Module& module);

  // Host memory, aligned to 256 bytes, between red zones; each byte is known to be initialised or not.
  Result<std::byte*> allocate(std::size_t bytes, std::string name, bool read_only = false);
  Status release(void* pointer);
  // Memory that belongs to the host and that kernels may access (cudaHostRegister, managed memory); all of it counts as
  // initialised.
  Status adopt(void* pointer, std::size_t bytes, std::string name);
  // Kernels may not access it any more; it is still the host's, and no finding calls it freed.
  void disown(void* pointer);
  void note_host_write(const void* pointer, std::size_t bytes);  // marks it initialised
  // Nothing of the allocation counts as initialised any more; how many of its bytes still don't.
  void forget_writes(const void* pointer);
  [[nodiscard]] std::size_t unwritten(const void* pointer) const;
  // Keeps memory from the host, as a GPU does: allocations from now on are closed to it but between open and close.
  void keep_from_host();
  void open_memory();
  void close_memory();
  // Starts the threads that launches use, for a host that may not start any later.
  void start_threads();
  // An error names the allocation that the range leaves, or says that there is none.
  [[nodiscard]] Status check_range(const void* pointer, std::size_t bytes) const;
  // The allocation that holds the pointer, e.g. for cudaPointerGetAttributes; bytes == 0 where there is none.
  struct Allocation {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::string name;
  };
  [[nodiscard]] Allocation find_allocation(const void* pointer) const;
  [[nodiscard]] std::size_t bytes_in_use() const;

  // Where a .global or .const variable lives, for cudaMemcpyToSymbol.
  Result<std::byte*> symbol(const Module& module, std::string_view global_name, std::size_t* bytes);
  Result<const Function*> kernel(const Module& module, std::string_view name) const;
  [[nodiscard]] std::vector<const Function*> kernels(const Module& module) const;
  [[nodiscard]] KernelFacts facts(const Function& function) const;

  // Runs to its end. params is laid out as facts().param_offsets say. Dynamic shared memory beyond what the limits allow, too many
  // threads and the like are findings of kind launch_limit, and nothing runs. An Error is only for what no kernel could cause.
  Result<LaunchReport> launch(const Function& function, Dim3 grid, Dim3 block, std::uint32_t dynamic_shared,
                              std::span<const std::byte> params, Dim3 cluster = {});

  // Where printf of kernels goes; stdout unless set.
  void set_printf_sink(std::function<void(std::string_view)> sink);
  // The malloc heap of kernels.
  void set_heap_limit(std::size_t bytes);

  [[nodiscard]] const DeviceOptions& options() const;
  DeviceOptions& mutable_options();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw::vgpu
