// The most float32 multiply-adds that the machine does per second. It measures registers only, never memory.
#pragma once

#include <string_view>

#include "base/result.h"

namespace kw {

// GFLOP/s (multiply and add counted as two) of `threads` threads together, with the vectors of `isa`: sse2, avx2,
// avx512 or neon. The CPU must have that instruction set.
Result<double> measure_fma_peak(std::string_view isa, int threads, double budget_seconds);

}  // namespace kw
