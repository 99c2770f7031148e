// The table of DSLs. A new one is a file that compiles a kernel to something the runner can load, and a row here.
#pragma once

#include "dsl/kernel.h"

namespace kw {

struct Dsl {
  std::string_view name;
  std::string_view extension;  // of a kernel's file
  bool on_gpu;                 // its kernels get device pointers
  Result<CompileOutcome> (*compile)(const ProblemDescription&, const KernelSource&, const fs::path& folder, const CompileOptions&);
  Result<std::string> (*compiler_version)();
  // What decides which code comes out: part of every archived key.
  Result<std::vector<std::string>> (*flags)(const CompileOptions&);
};

// By the file's extension and, where several DSLs share one, by the headers that the text includes. `chosen` overrides that. The
// error lists what there is.
Result<const Dsl*> dsl_of(const fs::path& kernel_file, std::string_view text, std::string_view chosen = {});
Result<const Dsl*> dsl_named(std::string_view name);
std::vector<std::string> dsl_names();

}  // namespace kw
