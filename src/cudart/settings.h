// What the environment says about the virtual GPU of this process; read once, early. Nothing is required.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw::cudart {

// Facts of ptxas about a kernel, which PTX alone does not tell.
struct CompiledFacts {
  int registers = 0;
  int spill_bytes = 0;
};

struct Settings {
  std::string gpu;              // KERNELWRIGHT_VGPU_GPU: an id or the path of a data sheet; a100 where not set
  bool checks = true;           // KERNELWRIGHT_VGPU_CHECKS=0
  bool counters = true;         // KERNELWRIGHT_VGPU_COUNTERS=0
  int threads = 0;              // KERNELWRIGHT_VGPU_THREADS
  double deadline_seconds = 0;  // KERNELWRIGHT_VGPU_DEADLINE, of one launch
  std::uint64_t seed = 0;       // KERNELWRIGHT_VGPU_SEED, of what no GPU promises (vgpu/surroundings.h)
  bool quiet = false;           // KERNELWRIGHT_VGPU_QUIET=1: no findings on standard error
  std::string report_file;      // KERNELWRIGHT_VGPU_REPORT: JSON lines
  std::map<std::string, CompiledFacts>
      facts;  // KERNELWRIGHT_VGPU_FACTS: a JSON file, kernel -> {"registers": 32, "spill_bytes": 0}
};

Result<Settings> settings_from_environment();
Result<std::uint64_t> seed_from_environment();

// {"kernel": {"registers": 32, "spill_bytes": 0}}; `what` names the text in errors.
Result<std::map<std::string, CompiledFacts>> facts_from_text(std::string_view text, std::string_view what);

}  // namespace kw::cudart
