// The table of DSLs. A new one is a file that compiles a kernel to something the runner can load, and a row here.
#pragma once

#include "dsl/kernel.h"

namespace kw {

struct Dsl {
  std::string_view name;
  std::string_view extension;  // of a kernel's file
  Result<CompileOutcome> (*compile)(const ProblemDescription&, const KernelSource&, const fs::path& folder, const CompileOptions&);
  Result<std::string> (*compiler_version)();
  std::vector<std::string> (*flags)();
};

// By the file's extension; the error lists what there is.
Result<const Dsl*> dsl_of_file(const fs::path& kernel_file);

}  // namespace kw
