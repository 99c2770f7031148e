#include "report/numbers.h"

#include <cmath>

#include <fmt/format.h>

namespace kw {
namespace {

std::string scaled(double value, const char* const* units, int count, double step) {
  int unit = 0;
  while (std::fabs(value) >= step * 0.9995 && unit + 1 < count) {
    value /= step;
    ++unit;
  }
  const int digits = std::fabs(value) >= 100 ? 0 : std::fabs(value) >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

}  // namespace

std::string human_seconds(double seconds) {
  static const char* const units[] = {"ns", "us", "ms"};
  if (seconds >= 0.9995) return fmt::format("{:.2f} s", seconds);
  return scaled(seconds * 1e9, units, 3, 1000);
}

std::string human_bytes(double bytes) {
  static const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 999.5) return fmt::format("{:.0f} B", bytes);
  return scaled(bytes, units, 5, 1000);
}

std::string human_count(double count) {
  static const char* const units[] = {"", "k", "M", "G", "T", "P"};
  std::string text = scaled(count, units, 6, 1000);
  if (count < 999.5) return fmt::format("{:.0f}", count);
  return text;
}

}  // namespace kw
