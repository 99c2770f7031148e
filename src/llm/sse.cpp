#include "llm/sse.h"

#include <fmt/format.h>

namespace kw::llm {
namespace {

constexpr std::size_t kLongestEvent = std::size_t{4} << 20;

}  // namespace

Status SseReader::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' && after_return_) {
      after_return_ = false;
      continue;
    }
    after_return_ = c == '\r';
    if (c == '\n' || c == '\r') {
      const std::string line = std::move(line_);
      line_.clear();
      KW_CHECK(take_line(line));
      continue;
    }
    line_ += c;
    if (line_.size() + event_.data.size() > kLongestEvent)
      return internal_error(fmt::format("an event of more than {} bytes", kLongestEvent));
  }
  return {};
}

Status SseReader::take_line(std::string_view line) {
  if (at_start_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  at_start_ = false;
  if (line.empty()) return dispatch();
  if (line.front() == ':') return {};  // a comment, sent to keep the connection alive
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") event_.name = value;
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
  return {};
}

Status SseReader::dispatch() {
  SseEvent event = std::move(event_);
  event_ = {};
  if (!std::exchange(has_data_, false)) return {};
  if (event.name.empty()) event.name = "message";
  return handler_(event);
}

}  // namespace kw::llm
