// A name for what a kernel's code does: sources that compile to the same code have the same hash, wherever the linker puts it and
// whatever its functions are called. Constants that the code reads are part of it.
#pragma once

#include <string>

#include "profile/disassembly.h"

namespace kw {

std::string assembly_hash(const Disassembly& code);

}  // namespace kw
