// How the contract spells a kernel's arguments in OpenCL C.
#pragma once

#include "record/contract.h"

namespace kw {

// What an element is called in a kernel: "float", "long", "kw_bf16"; a byte for a boolean, which no kernel may take a pointer to.
std::string_view opencl_type(DType dtype);
// The name of a tensor there: its own, or with an underscore where that is a word of the language.
std::string opencl_name(const TensorSpec& spec);
}  // namespace kw
