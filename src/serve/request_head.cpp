#include "serve/request_head.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace kw {
namespace {

constexpr std::string_view kEndOfLine = "\r\n";

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || kOthers.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  return from == std::string_view::npos ? "" : text.substr(from, text.find_last_not_of(" \t") + 1 - from);
}

std::vector<std::string_view> lines_of(std::string_view head) {
  std::vector<std::string_view> lines;
  for (std::size_t end; (end = head.find(kEndOfLine)) != std::string_view::npos; head.remove_prefix(end + kEndOfLine.size()))
    if (end > 0) lines.push_back(head.substr(0, end));
  return lines;
}

// "GET /runs/1 HTTP/1.1": what the target names is judged where it is answered.
bool is_request_line(std::string_view line) {
  const auto first = line.find(' '), second = line.rfind(' ');
  if (first == std::string_view::npos || first == second) return false;
  const std::string_view target = line.substr(first + 1, second - first - 1), version = line.substr(second + 1);
  return is_token(line.substr(0, first)) && is_printable(target) && target.find_first_of(" \t") == std::string_view::npos &&
         (version == "HTTP/1.1" || version == "HTTP/1.0");
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return all;
}

std::optional<std::size_t> end_of_head(std::string_view arrived) {
  const auto at = arrived.find("\r\n\r\n");
  if (at == std::string_view::npos) return std::nullopt;
  return at + 4;
}

RequestHead read_head(std::string_view head) {
  if (head.size() > kLongestHead) return {431, "", true};
  const auto lines = lines_of(head);
  if (lines.empty() || !is_request_line(lines.front())) return {400, "", true};
  if (lines.size() > kMostFields + 1) return {431, "", true};
  RequestHead read;
  read.text = std::string(lines.front()) + "\r\n";
  read.last = lines.front().ends_with("1.0");
  int hosts = 0;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const auto colon = lines[k].find(':');
    if (colon == std::string_view::npos || !is_token(lines[k].substr(0, colon)) || !is_printable(lines[k])) return {400, "", true};
    const std::string name = lower_case(lines[k].substr(0, colon));
    const std::string_view value = trimmed(lines[k].substr(colon + 1));
    if (name == "host") {
      // Of two, a proxy and this server could each believe another.
      if (++hosts > 1) return {400, "", true};
      read.text += "Host: " + std::string(value) + "\r\n";
    }
    // A body is never read: what follows it could not be told from it.
    if (name == "transfer-encoding" || (name == "content-length" && value != "0")) read.last = true;
    if (name == "connection" && lower_case(value).find("close") != std::string::npos) read.last = true;
  }
  read.text += read.last ? "Connection: close\r\n\r\n" : "\r\n";
  return read;
}

}  // namespace kw
