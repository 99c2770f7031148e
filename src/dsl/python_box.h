// The sandbox that a Python process with a hostile file lives in: an interpreter, PyTorch and what that needs. Other packages,
// which could do the work in the candidate's place, are not there.
#pragma once

#include "dsl/kernel.h"

namespace kw {

enum class PythonLife {
  building,  // it may run compilers and write into its folder
  serving,   // it computes: no other process, and nothing that it writes outlives it
};

// Without limits of time and memory, which differ. `gpu_library` is the virtual GPU's, for Triton.
Result<sandbox::Spec> python_box(const PythonBuild& build, const std::string& gpu_library, PythonLife life);

// How the names of the packages begin that a candidate without PyTorch's operators may have.
std::vector<std::string> packages_of_candidates();

// Address space that PyTorch takes before a candidate does anything, and room for what it needs to work.
inline constexpr std::uint64_t kPythonMemory = std::uint64_t{12} << 30;

}  // namespace kw
