// PyTorch's code without its kernels: a copy of the library's code in which the BLAS, oneDNN and at::native below the dispatcher
// are traps. A process that serves a ModelNew maps it over the library's own once the module is built, so that no walk through
// memory leads to a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/cache.h"

namespace kw {

struct BlankTorch {
  fs::path library;           // PyTorch's own
  fs::path code;              // the copy of its code
  std::uint64_t address = 0;  // of the code, from where the library is loaded
  std::uint64_t bytes = 0;
  CacheLease held;  // the copy stays in the cache
};

// Whether that function of PyTorch's library, by its name in the symbol table, computes: all that a kernel below the dispatcher is,
// but for what allocates, copies, fills and views.
bool is_kernel_of_torch(std::string_view mangled);

// Of the oracle's PyTorch; made once for each build of it and kept in the cache, where the copy of another build of the same
// PyTorch goes with it. Nothing where its library has no table of symbols.
Result<std::optional<BlankTorch>> blank_torch();

// Why the code of the process is not as it was made: its own copy of PyTorch's kernels can be executed, or memory without a file
// can. Empty: it is.
std::string executable_objection(int process, const BlankTorch& blank);

}  // namespace kw
