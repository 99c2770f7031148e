// Files that are nowhere but in memory, as descriptors to hand to another process.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace kw {

// The descriptor is the caller's to close.
Result<int> memory_file(const char* name, std::uint64_t bytes);
// The same file, but nobody can write through it.
Result<int> read_only_again(int descriptor);

}  // namespace kw
