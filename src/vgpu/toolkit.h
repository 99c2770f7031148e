// NVIDIA's compiler, used from outside: where it is, a CUDA program compiled for the virtual GPU, and what ptxas says of its
// kernels.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "vgpu/gpu_sheet.h"

namespace kw::vgpu {

// $KERNELWRIGHT_NVCC, else on PATH, below $CUDA_HOME or $CUDA_PATH, in the usual folder, or in the project's .venv. An error says
// what to install.
Result<fs::path> find_nvcc();

// libkw_cudart.so: beside the running program, or in the folder lib next to its folder.
Result<fs::path> find_cudart_library();

// The shared CUDA runtime for programs on a real GPU: $KERNELWRIGHT_CUDART, or the one that came with nvcc. An error says where it
// was looked for.
Result<fs::path> find_cuda_runtime();

struct PtxasFacts {
  int registers = 0;
  int spill_store_bytes = 0, spill_load_bytes = 0, stack_bytes = 0;
  int shared_bytes = 0;
};

// The headers of CUTLASS and CuTe, as the package nvidia-cutlass has them: $KERNELWRIGHT_CUTLASS, or in the project's .venv.
Result<fs::path> find_cutlass_headers();

// What `ptxas -v` prints, by kernel. Of code for several architectures, `architecture` (sm_80) names the one to read.
std::map<std::string, PtxasFacts> parse_ptxas_output(std::string_view text, std::string_view architecture = {});

// {"kernel": {"registers": 32, "spill_bytes": 0, "stack_bytes": 0, "shared_bytes": 0}}
Json facts_json(const std::map<std::string, PtxasFacts>& facts);

struct CompileRequest {
  fs::path source;
  fs::path program;                  // where the executable goes
  std::vector<std::string> options;  // more of nvcc's: -I, -D, -std=c++20, ...
  double deadline_seconds = 600;
};

struct CompiledProgram {
  std::map<std::string, PtxasFacts> facts;
  std::string warnings;  // of the compiler, without ptxas's facts
};

// A program whose kernels run on the virtual GPU. The compiler's messages are the error where it refuses the source.
Result<CompiledProgram> compile_cuda_program(const CompileRequest& request, const GpuSheet& sheet);

// The options of nvcc that device code for the virtual GPU needs: PTX for the sheet's compute capability, uncompressed, with lines.
// `also_for` is the architecture of a real GPU (86) that gets machine code from the same PTX; 0: none.
std::vector<std::string> device_code_options(const GpuSheet& sheet, int also_for = 0);
// That PTX is for: 80 for an A100.
int ptx_architecture(const GpuSheet& sheet);

}  // namespace kw::vgpu
