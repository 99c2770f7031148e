// SHA-256 as lower-case hex: the names of everything that is cached or archived.
#pragma once

#include <string>
#include <string_view>

namespace kw {

std::string sha256(std::string_view data);
// The same as base64, as web pages name their scripts in a content security policy.
std::string sha256_base64(std::string_view data);

// Joins the parts unambiguously (lengths included) and hashes them.
template <typename... Parts>
std::string key_of(const Parts&... parts) {
  std::string joined;
  ((joined += std::to_string(std::string_view(parts).size()) + ":" + std::string(parts)), ...);
  return sha256(joined);
}

}  // namespace kw
