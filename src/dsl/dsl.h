// The table of DSLs. A new one is a file that compiles a kernel to something the runner can load, and a row here.
#pragma once

#include "dsl/kernel.h"

namespace kw {

// Where kernels run.
enum class Venue {
  host,         // on this machine's cores, over its memory
  virtual_gpu,  // as PTX on src/vgpu: they get device pointers
};

struct Dsl {
  std::string_view name;
  std::string_view extension;  // of a kernel's file
  Venue venue;
  Result<CompileOutcome> (*compile)(const ProblemDescription&, const KernelSource&, const fs::path& folder, const CompileOptions&);
  Result<std::string> (*compiler_version)();
  // What decides which code comes out: part of every archived key.
  Result<std::vector<std::string>> (*flags)(const CompileOptions&);
  // What a kernel of the problem has to define.
  std::string (*declaration)(const ProblemDescription&);
  [[nodiscard]] bool on_gpu() const { return venue == Venue::virtual_gpu; }
};

// By the file's extension and, where several DSLs share one, by what the text includes or imports. `chosen` overrides that. The
// error lists what there is.
Result<const Dsl*> dsl_of(const fs::path& kernel_file, std::string_view text, std::string_view chosen = {});
Result<const Dsl*> dsl_named(std::string_view name);
std::vector<std::string> dsl_names();

}  // namespace kw
