// The real GPUs of this machine, as its CUDA runtime tells of them, and the data sheets that they go by. Nothing runs on them here.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "vgpu/gpu_sheet.h"

namespace kw::vgpu {

struct PresentGpu {
  int index = 0;        // by the runtime's count
  std::string name;     // as the driver calls it
  std::string runtime;  // the shared CUDA runtime that sees it
  int cc_major = 0, cc_minor = 0;
  int sm_count = 0;
  double clock_mhz = 0, memory_gb_per_s = 0;  // 0 where the driver does not say
  std::uint64_t l2_bytes = 0;
  [[nodiscard]] int architecture() const { return 10 * cc_major + cc_minor; }  // 86 for compute capability 8.6
  // To be written before a call so that caches hold nothing of its inputs: twice the last cache.
  [[nodiscard]] std::uint64_t flush_bytes() const;
};

// Those that kernels can be compiled for; where there are none, why.
struct PresentGpus {
  std::vector<PresentGpu> all;
  std::string why_none;
};

// Asked once per process, in a process of its own: a driver that hangs or crashes does no harm.
const PresentGpus& present_gpus();
// The same of one runtime, asked anew.
PresentGpus gpus_seen_by(const fs::path& runtime);

// Whether a word of the command line means this GPU: its data sheet's id, its name, or the end of it ("l4", "NVIDIA L4").
bool goes_by(const PresentGpu& gpu, std::string_view word);

// The data sheet whose limits and instructions a kernel for this GPU has to keep to: its own, or that of the newest architecture
// that is no newer.
Result<GpuSheet> judging_sheet(const PresentGpu& gpu);

// That sheet with the figures of this GPU, for what it can reach.
GpuSheet with_own_figures(GpuSheet sheet, const PresentGpu& gpu);

}  // namespace kw::vgpu
