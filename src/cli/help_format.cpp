#include "cli/help_format.h"

#include <sstream>

namespace kw {
namespace {

constexpr std::size_t kNames = 30;
constexpr std::size_t kDescriptions = 70;

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string lines, word;
  std::size_t used = 0;
  while (words >> word) {
    const bool fits = used == 0 || used + 1 + word.size() <= width;
    if (used > 0) lines += fits ? ' ' : '\n';
    used = fits && used > 0 ? used + 1 + word.size() : word.size();
    lines += word;
  }
  return lines;
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(kNames); }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = value_shown(*option);
    return (value.empty() ? "" : " " + value) + (option->get_required() && !option->get_positional() ? " (required)" : "");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kDescriptions);
  }
};

}  // namespace

// CLI11 writes a check behind the type and a colon: TEXT:{eager,compile}, INT:INT in [1 - 16].
std::string value_shown(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  if (colon == std::string::npos) return type;
  const std::string check = type.substr(colon + 1);
  return check.starts_with('{') ? check : type.substr(0, colon);
}

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpFormat>(); }

}  // namespace kw
