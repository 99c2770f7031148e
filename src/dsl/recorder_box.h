// A sandbox with the Python that compiles kernels of Python DSLs: its own folders and the project's recorder, nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/kernel.h"

namespace kw {

// Versions of packages that the oracle's Python has, "triton 3.9.0, torch 2.15.0"; an error names the missing one and how to get
// it.
Result<std::string> python_packages(const std::vector<std::string>& names);

// Where a package is installed.
Result<fs::path> python_package_folder(const std::string& name);

// Ready to run `python -m kernelwright_record`: the words behind that are the caller's. `tensor_bytes` of the problem count as
// address space.
Result<sandbox::Spec> recorder_box(const fs::path& folder, const CompileOptions& options, std::uint64_t tensor_bytes);

}  // namespace kw
