#include "export/templates.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace kw {
namespace {

// The name at `text[at] == '@'`, or nothing: an address or a Python decorator is no name between two of them.
std::string name_at(const std::string& text, std::size_t at) {
  const std::size_t end = text.find('@', at + 1);
  if (end == std::string::npos || end == at + 1) return "";
  const std::string name = text.substr(at + 1, end - at - 1);
  const auto fits = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return std::ranges::all_of(name, fits) ? name : "";
}

}  // namespace

Result<std::string> filled(const std::string& text, const TemplateValues& values, const std::string& what) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find('@', at);
    made.append(text, at, next == std::string::npos ? next : next - at);
    if (next == std::string::npos) break;
    const std::string name = name_at(text, next);
    at = next + (name.empty() ? 1 : name.size() + 2);
    if (name.empty()) {
      made += '@';
      continue;
    }
    const auto found = values.find(name);
    if (found == values.end()) return internal_error(fmt::format("{}: nothing is known of @{}@", what, name));
    made += found->second;
  }
  return made;
}

Result<std::string> filled_template(const std::string& path, const TemplateValues& values) {
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const std::string text, read_file(root / "knowledge" / "export" / path));
  return filled(text, values, path);
}

}  // namespace kw
