// Server-sent events out of a stream of bytes, however it was cut into pieces. Knows nothing of what the events mean.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw::llm {

struct SseEvent {
  std::string name;  // "message" where the stream says nothing
  std::string data;  // lines joined by line feeds
};

class SseReader {
 public:
  explicit SseReader(std::function<Status(const SseEvent&)> handler) : handler_(std::move(handler)) {}

  // The first error of the handler, or of a line that grows without end, is returned and ends the reading.
  Status feed(std::string_view bytes);

 private:
  Status take_line(std::string_view line);
  Status dispatch();

  std::function<Status(const SseEvent&)> handler_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // a line feed next belongs to the carriage return before
  bool at_start_ = true;
};

}  // namespace kw::llm
