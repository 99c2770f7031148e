// Lengths of time as people write them: 90s, 3m, 1.5h; a plain number is seconds.
#pragma once

#include <string_view>

#include "base/result.h"

namespace kw {

Result<double> seconds_from_text(std::string_view text);

}  // namespace kw
