// What a compiled object may import: names that the C and C++ runtimes, libm, libmvec and OpenMP define, and for PyTorch's
// extensions also those of Python and of PyTorch above its kernels. A name that none of them defines is somebody else's work.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw {

// The names that those libraries export, read from the files that the compiler links with; read once a process.
Result<const std::set<std::string, std::less<>>*> runtime_names();

// Names that the linker and the compiler's start files leave undefined in every object.
bool is_linkers_own(std::string_view symbol);

// Python's C interface, and PyTorch's and pybind11's C++ down to the dispatcher: not the kernels below it.
bool is_python_extension_name(std::string_view symbol);

// "at", "native" of _ZN2at6native2mmE...; the first names only, without template arguments. Empty for a name of C.
std::vector<std::string_view> leading_names(std::string_view mangled, std::size_t most = 2);

}  // namespace kw
