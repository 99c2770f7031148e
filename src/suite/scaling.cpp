#include "suite/scaling.h"

#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "problem/smaller_problem.h"

namespace kw {
namespace {

struct Unit {
  double factor = 0;
  bool is_time = false;
};

const std::map<std::string_view, Unit>& units() {
  static const std::map<std::string_view, Unit> all{{"us", {1e-6, true}},     {"ms", {1e-3, true}},     {"s", {1, true}},
                                                    {"kB", {1e3, false}},     {"MB", {1e6, false}},     {"GB", {1e9, false}},
                                                    {"TB", {1e12, false}},    {"KiB", {0x1p10, false}}, {"MiB", {0x1p20, false}},
                                                    {"GiB", {0x1p30, false}}, {"TiB", {0x1p40, false}}};
  return all;
}

// A number and its unit; nothing: it is none.
std::optional<std::pair<double, Unit>> quantity(std::string_view word) {
  double number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  const auto unit = units().find(word.substr(static_cast<std::size_t>(end - word.data())));
  if (failure != std::errc() || unit == units().end() || !std::isfinite(number) || number <= 0) return std::nullopt;
  return std::pair{number, unit->second};
}

}  // namespace

std::optional<double> bytes_of_size(std::string_view word) {
  const auto found = quantity(word);
  return found && !found->second.is_time ? std::optional(found->first * found->second.factor) : std::nullopt;
}

Result<ScaleLimits> scale_limits(const std::vector<std::string>& words) {
  ScaleLimits limits;
  for (const std::string& word : words) {
    const auto found = quantity(word);
    if (!found)
      return bad_input(fmt::format("--scale-to {} is neither a length of time nor a size", word),
                       "write it as 100ms, 2GiB or 500MB");
    double& limit = found->second.is_time ? limits.seconds : limits.bytes;
    if (limit > 0)
      return bad_input(fmt::format("--scale-to {} is a second {}", word, found->second.is_time ? "length of time" : "size"),
                       "give one of each kind at most, such as --scale-to 100ms --scale-to 2GiB");
    limit = found->first * found->second.factor;
  }
  return limits;
}

Result<ScaledProblem> scaled_problem(OracleClient& oracle, const fs::path& file, const ScaleLimits& limits,
                                     const fs::path& target) {
  if (!limits.any()) return ScaledProblem{file, ""};
  KW_TRY(SmallerProblem smaller,
         smaller_problem(oracle, "scale", file, {{"seconds", limits.seconds}, {"bytes", limits.bytes}}, target));
  if (smaller.is_smaller())
    return ScaledProblem{std::move(smaller.file),
                         smaller.why_not.empty() ? smaller.changes : smaller.changes + "; " + smaller.why_not};
  return ScaledProblem{file, smaller.why_not.empty() ? "" : "as it is: " + smaller.why_not};
}

}  // namespace kw
