// How the contract spells a kernel's arguments in OpenCL C.
#pragma once

#include "record/contract.h"

namespace kw {

// What an element is called in a kernel: "float", "long", "kw_bf16"; a byte for a boolean, which no kernel may take a pointer to.
std::string_view opencl_type(DType dtype);
}  // namespace kw
