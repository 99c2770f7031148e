// The first filter for C++ kernels: what the text includes, what the compiler really read, what the object calls.
// It catches the careless; the sandbox holds against the rest.
#pragma once

#include <optional>

#include "dsl/kernel.h"

namespace kw {

std::optional<Diagnosis> screen_includes(const KernelSource& source);

// `dependencies` is the compiler's make rule; `folder` holds the kernel and problem.h; `more` are other folders that may be read.
std::optional<Diagnosis> screen_dependencies(const std::string& dependencies, const std::string& folder,
                                             const std::vector<std::string>& more = {});

// By link, not by text: names of functions that the object imports or defines. What is imported has to come from the runtimes of
// C and C++, libm or OpenMP; of those some functions are refused by name.
Result<std::optional<Diagnosis>> screen_object(const fs::path& object);

// The same for an object with kernels in CUDA: also what it may not ask of the CUDA runtime, or define in its place.
Result<std::optional<Diagnosis>> screen_cuda_object(const fs::path& object);

}  // namespace kw
