// Records' JSON as text that can be archived and read back whole: JSON has no infinity and no NaN, which errors of
// wrong kernels do have, and a compiler's message need not be UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace kw {

// Infinities and NaN become {"$number": "inf"}, "-inf" and "nan"; bytes that are no UTF-8 become U+FFFD.
std::string archived_text(const Json& json);

// `what` names the source of the text in the error.
Result<Json> json_from_archived_text(std::string_view text, std::string_view what);

}  // namespace kw
