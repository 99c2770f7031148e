// The version of the project, for what tells it: a test compares it with the build's.
#pragma once

namespace kw {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace kw
