#include "base/duration.h"

#include <charconv>
#include <cmath>
#include <string>

namespace kw {

Result<double> seconds_from_text(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = 0;
  if (unit.empty() || unit == "s") factor = 1;
  if (unit == "m" || unit == "min") factor = 60;
  if (unit == "h") factor = 3600;
  if (failure != std::errc() || factor == 0 || !std::isfinite(number) || number <= 0)
    return bad_input("'" + std::string(text) + "' is no length of time", "write it as 90s, 3m or 1.5h");
  return number * factor;
}

}  // namespace kw
