// Lengths of time as people write them: 90s, 3m, 1.5h; a plain number is seconds.
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace kw {

Result<double> seconds_from_text(std::string_view text);

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kw
