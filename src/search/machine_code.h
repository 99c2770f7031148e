// What a compiled kernel's machine code is, whatever it was compiled to.
#pragma once

#include "dsl/kernel.h"
#include "profile/disassembly.h"

namespace kw {

// Of all that it launches, where it is several objects.
Result<Disassembly> disassembly_of(const CompiledKernel& kernel);

}  // namespace kw
