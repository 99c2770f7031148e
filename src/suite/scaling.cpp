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

}  // namespace

Result<ScaleLimits> scale_limits(const std::vector<std::string>& words) {
  ScaleLimits limits;
  for (const std::string& word : words) {
    double number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    const auto unit = units().find(std::string_view(end, static_cast<std::size_t>(word.data() + word.size() - end)));
    if (failure != std::errc() || unit == units().end() || !std::isfinite(number) || number <= 0)
      return bad_input(fmt::format("--scale-to {} is neither a length of time nor a size", word),
                       "write it as 100ms, 2GiB or 500MB");
    double& limit = unit->second.is_time ? limits.seconds : limits.bytes;
    if (limit > 0)
      return bad_input(fmt::format("--scale-to {} is a second {}", word, unit->second.is_time ? "length of time" : "size"),
                       "give one of each kind at most, such as --scale-to 100ms --scale-to 2GiB");
    limit = number * unit->second.factor;
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
