// In which order the dimensions of a tensor lie in its memory.
#pragma once

#include <vector>

#include "record/tensor.h"

namespace kw {

// The outermost first; 0, 1, ... of a contiguous tensor, and of one whose strides are not given.
std::vector<int> memory_order(const TensorSpec& spec);

}  // namespace kw
