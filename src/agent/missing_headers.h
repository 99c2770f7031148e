// Standard headers that a kernel uses and does not include: which header a name of std:: is in is no matter of opinion, so they
// are added without asking anyone.
#pragma once

#include <string>

namespace kw {

// The same text with the includes that it needs; unchanged where it has them all.
std::string with_missing_headers(const std::string& code);

}  // namespace kw
