// In which order the dimensions of a tensor lie in its memory.
#pragma once

#include <vector>

#include "record/tensor.h"

namespace kw {

// The outermost first; of a contiguous tensor 0, 1, ...
std::vector<int> memory_order(const TensorSpec& spec);

}  // namespace kw
