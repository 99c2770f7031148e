// Where kernels for a GPU go: the virtual GPU that judges them, and the machine's own GPU that times them, if it is the one that is
// meant.
#pragma once

#include <optional>
#include <string>

#include "vgpu/present_gpu.h"

namespace kw {

struct GpuPlace {
  std::string sheet;                       // the virtual GPU's data sheet: an id or a file; empty: the usual one
  std::optional<vgpu::PresentGpu> device;  // none: times are estimated
  std::string note;                        // why a GPU that is here is left alone; empty: it is not, or there is none
};

// `machine` is what --machine says: a data sheet or the name of a GPU that is here; empty: the GPU that is here, else the usual
// data sheet.
Result<GpuPlace> gpu_place(const std::string& machine, std::string_view dsl);
// The same with a given list of GPUs and no question about PyTorch.
Result<GpuPlace> gpu_place_among(const vgpu::PresentGpus& present, const std::string& machine, std::string_view dsl);

}  // namespace kw
