// Whether a strategy's conditions hold for a problem: comparisons over its features. Never looks at a problem itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/strategy.h"

namespace kw {

// The names that conditions may be written over, with what they count.
struct FeatureName {
  std::string_view name;
  std::string_view meaning;
};
std::span<const FeatureName> feature_names();

// An error names the condition and what is wrong with it: it cannot be read, or speaks of a feature that nobody provides.
Status check_condition(const std::string& condition);

// All of them hold. A feature that is not there is 0; a condition without a value (a division by zero) does not hold.
bool conditions_hold(const std::vector<std::string>& conditions, const Features& features);

}  // namespace kw
