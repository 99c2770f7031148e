// Problems that are too big for this machine, with smaller batches: another problem's text, in a file of its own.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "problem/oracle_client.h"

namespace kw {

struct ScaleLimits {
  double seconds = 0;  // of a call of eager; 0: none
  double bytes = 0;    // of inputs, parameters and outputs; 0: none
  [[nodiscard]] bool any() const { return seconds > 0 || bytes > 0; }
};

// "2GiB" or "500MB"; nothing: it is no size above 0.
std::optional<double> bytes_of_size(std::string_view word);

// "100ms", "2GiB", or both.
Result<ScaleLimits> scale_limits(const std::vector<std::string>& words);

struct ScaledProblem {
  fs::path file;      // the problem's own where nothing was changed
  std::string words;  // what was changed, or why nothing (or not enough) could be; empty: there was no need
};

// Writes the smaller problem to `target`, if there is one.
Result<ScaledProblem> scaled_problem(OracleClient& oracle, const fs::path& file, const ScaleLimits& limits, const fs::path& target);

}  // namespace kw
