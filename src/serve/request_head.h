// What arrives before a request is answered: where its head ends, whether it is well formed, and the few lines of it that the
// answer depends on. Everything else that a client may write is left out, so that nothing behind it ever reads it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kw {

constexpr std::size_t kLongestHead = 16384;
constexpr std::size_t kMostFields = 100;

struct RequestHead {
  int refused = 0;    // the status to refuse it with; 0: it may be answered
  std::string text;   // the request's line, Host and Connection
  bool last = false;  // the connection ends with its answer
};

// Of ASCII letters: names of fields and of hosts are the same in either case.
std::string lower_case(std::string_view text);

// How many bytes the head takes with its empty line; none while that has not arrived.
std::optional<std::size_t> end_of_head(std::string_view arrived);

RequestHead read_head(std::string_view head);

}  // namespace kw
