// The headers that nearly every kernel includes, read by the compiler once and kept in the cache: reading <immintrin.h> anew takes
// longer than all the rest of most kernels. The object that comes out is the same, byte by byte.
#pragma once

#include <optional>

#include "dsl/kernel.h"

namespace kw {

// A header to include before anything else, with its compiled form beside it. Nothing for a kernel that does not itself include
// all that is in it (no kernel compiles here and nowhere else), for code with line numbers or sanitizers, and where the compiler
// cannot keep headers.
std::optional<fs::path> precompiled_headers(const KernelSource& source, const std::string& compiler, const CompileOptions& options);

}  // namespace kw
