// Elements of any dtype as numbers. It knows nothing of shapes.
#pragma once

#include <cstdint>

#include "record/tensor.h"

namespace kw {

double element_as_double(const void* data, DType dtype, std::int64_t index);  // integers beyond 2^53 lose digits
void elements_as_doubles(const void* data, DType dtype, std::int64_t begin, std::int64_t count, double* to);

// Exact for integers; a floating element is cut to its integer part, and to the ends of the type.
std::int64_t element_as_integer(const void* data, DType dtype, std::int64_t index);

// Whether an element still holds what the output was filled with before the call.
bool is_poison(const void* data, DType dtype, std::int64_t index);

}  // namespace kw
