// What an estimate says of a kernel, in a few lines with the levers that could help.
#pragma once

#include "record/estimate.h"
#include "record/profile.h"

namespace kw {

std::vector<std::string> estimate_findings(const EstimateRecord& estimate);
ProfileRecord estimate_profile(const EstimateRecord& estimate);

}  // namespace kw
