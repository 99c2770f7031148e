#include "suite/scaling.h"

#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

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
    (unit->second.is_time ? limits.seconds : limits.bytes) = number * unit->second.factor;
  }
  return limits;
}

Result<ScaledProblem> scaled_problem(OracleClient& oracle, const fs::path& file, const ScaleLimits& limits,
                                     const fs::path& target) {
  if (!limits.any()) return ScaledProblem{file, ""};
  const Json request{{"problem", fs::absolute(file).string()}, {"seconds", limits.seconds}, {"bytes", limits.bytes}};
  KW_TRY(const Json answer, oracle.ask("scale", request));
  struct Answer {
    std::string source, changes, reason;
  };
  KW_TRY(const Answer read, read_fields("the oracle's answer", [&] {
           return Answer{answer.at("source").is_null() ? "" : answer.at("source").get<std::string>(),
                         answer.at("changes").get<std::string>(), answer.at("reason").get<std::string>()};
         }));
  if (read.source.empty()) return ScaledProblem{file, read.reason.empty() ? "" : "as it is: " + read.reason};
  KW_CHECK(make_folders(target.parent_path()));
  KW_CHECK(write_file_atomically(target, read.source));
  return ScaledProblem{target, read.changes};
}

}  // namespace kw
