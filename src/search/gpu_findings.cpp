#include "search/gpu_findings.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/demangle.h"

namespace kw {
namespace {

struct LimitAdvice {
  std::string_view resource;
  std::array<std::string_view, 3> levers;
};

constexpr std::array kAdvice{
    LimitAdvice{"memory", {"fuse", "coalesce", "vectorise"}},
    LimitAdvice{"l2", {"shared_tile", "coalesce", "register_tile"}},
    LimitAdvice{"l1", {"coalesce", "vectorise", "register_tile"}},
    LimitAdvice{"shared memory", {"register_tile", "layout", "vectorise"}},
    LimitAdvice{"latency", {"occupancy", "async_copy", "launch_shape"}},
    LimitAdvice{"issue", {"vectorise", "unroll", "register_tile"}},
    LimitAdvice{"integer", {"unroll", "vectorise", "layout"}},
    LimitAdvice{"fp32", {"tensor_core", "register_tile", "unroll"}},
    LimitAdvice{"special functions", {"approximate_math", "reuse_registers", "online_algorithm"}},
    LimitAdvice{"atomics", {"warp_reduce", "split_work", "shared_tile"}},
    LimitAdvice{"launch", {"fuse", "launch_shape", "split_work"}},
};

}  // namespace

ProfileRecord estimate_profile(const EstimateRecord& estimate) {
  ProfileRecord profile;
  profile.method = "virtual GPU";
  if (estimate.launches.empty()) return profile;
  const LaunchEstimate& longest = estimate.launches.front();
  Finding limit;
  limit.kind = "limited_by";
  limit.text = fmt::format("limited by {} ({}, {:.0f}% of the speed of light, an estimate)", longest.limiting,
                           without_parameters(longest.kernel).substr(0, 60), 100 * longest.share_of_speed_of_light);
  limit.weight = estimate.seconds > 0 ? longest.seconds / estimate.seconds : 0;
  for (const LimitAdvice& advice : kAdvice)
    if (advice.resource == longest.limiting) limit.levers.assign(advice.levers.begin(), advice.levers.end());
  profile.findings.push_back(std::move(limit));
  for (const std::string& note : longest.notes) profile.findings.push_back({"note", note, 0.1, {}});
  if (longest.spill_bytes > 0)
    profile.findings.push_back(
        {"spills", fmt::format("{} bytes of spills", longest.spill_bytes), 0.3, {"occupancy", "register_tile"}});
  return profile;
}

std::vector<std::string> estimate_findings(const EstimateRecord& estimate) {
  std::vector<std::string> texts;
  for (const Finding& finding : estimate_profile(estimate).findings)
    texts.push_back(finding.levers.empty() ? finding.text
                                           : fmt::format("{} (levers: {})", finding.text, fmt::join(finding.levers, ", ")));
  return texts;
}

}  // namespace kw
