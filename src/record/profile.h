// What a profile says of one kernel: a few findings, never raw output.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

struct Finding {
  std::string kind;   // bandwidth_bound, compute_bound, not_vectorised, spills, unbalanced, no_scaling, latency_bound, ...
  std::string text;   // "bandwidth-bound: 92% of the ceiling"
  double weight = 0;  // how much it seems to matter, 0 to 1; the heaviest stands first
  std::vector<std::string> levers;  // that could help
};

struct ProfileRecord {
  std::vector<Finding> findings;
  std::string method;  // counters, or assembly
};

void to_json(Json& json, const Finding& finding);
void from_json(const Json& json, Finding& finding);
void to_json(Json& json, const ProfileRecord& profile);
void from_json(const Json& json, ProfileRecord& profile);

}  // namespace kw
