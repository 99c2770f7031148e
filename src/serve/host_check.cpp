#include "serve/host_check.h"

#include <arpa/inet.h>

#include "serve/request_head.h"

namespace kw {
namespace {

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

bool is_loopback(std::string_view host) {
  unsigned char bytes[16];
  const std::string text = lower_case(host);
  if (text == "localhost" || text == "::1") return true;
  return ::inet_pton(AF_INET, text.c_str(), bytes) == 1 && bytes[0] == 127;
}

bool is_own_host(const HostRule& rule, std::string_view header) {
  std::string_view host = header, port;
  if (const auto end = host.rfind(']'); !host.empty() && host.front() == '[' && end != std::string_view::npos) {
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
  } else if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (!port.empty() && port != ":" + std::to_string(rule.port)) return false;
  if (port.empty() && rule.port != 80) return false;
  const std::string name = lower_case(host);
  for (const std::string& own : rule.names)
    if (lower_case(own) == name) return true;
  if (is_loopback(name)) return true;
  return !is_loopback(rule.address) && is_address(name);
}

}  // namespace kw
