// Windows as numbers: where each begins and ends. It knows no text.
#pragma once

#include "playbook/value.h"

namespace kw {

// WindowDim::stride of adaptive windows: output o of `outputs` covers [o * inputs / outputs, ceil((o + 1) * inputs / outputs)).
inline constexpr std::int64_t kAdaptive = 0;

inline bool is_adaptive(const WindowDim& dim) { return dim.stride == kAdaptive; }
inline bool is_pooled(const WindowDim& dim) { return is_adaptive(dim) || dim.size > 1 || dim.stride != 1 || dim.before != 0; }

// Outputs in [begin, end) have windows that lie wholly inside.
struct InteriorOutputs {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
InteriorOutputs interior_outputs(const WindowDim& dim, std::int64_t inputs, std::int64_t outputs);

}  // namespace kw
