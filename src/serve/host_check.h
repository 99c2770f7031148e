// Which Host headers belong to this server. A page of another site can make a browser ask 127.0.0.1 under a name of its own (DNS
// rebinding) and would then read the answers: such a name is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct HostRule {
  std::string address = "127.0.0.1";  // that the server is bound to
  int port = 0;
  std::vector<std::string> names;  // that were asked for besides
};

// localhost and addresses in numbers are its own: no site can have these as its name. Bound to this machine alone, only those of
// it.
bool is_own_host(const HostRule& rule, std::string_view header);

// 127.0.0.0/8, ::1, localhost.
bool is_loopback(std::string_view host);

}  // namespace kw
