// Digests what a compiler or linker printed into the first real error, with its line in the kernel.
#pragma once

#include "dsl/kernel.h"

namespace kw {

// `declaration` is the entry point's, for errors about it.
Diagnosis digest_compiler_errors(const std::string& output, const std::string& kernel_file, const std::string& declaration);

}  // namespace kw
