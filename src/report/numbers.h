// Numbers as people read them: 1.23 ms, 64.0 MB, 12.3 GFLOP.
#pragma once

#include <string>

namespace kw {

std::string human_seconds(double seconds);
std::string human_bytes(double bytes);
std::string human_count(double count);  // 1.23 G

}  // namespace kw
