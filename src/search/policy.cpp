#include "search/policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "search/evolve.h"
#include "search/generate.h"
#include "search/random_policy.h"
#include "search/refine.h"

namespace kw {

namespace {

template <typename Chosen>
std::unique_ptr<Policy> policy_of(SearchContext context) {
  return std::make_unique<Chosen>(std::move(context));
}

struct PolicyRow {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(SearchContext);
};

constexpr std::array<PolicyRow, 4> kPolicies{{
    {"evolve", policy_of<Evolve>},
    {"refine", policy_of<Refine>},
    {"generate", policy_of<Generate>},
    {"random", policy_of<RandomPolicy>},
}};

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyRow& row : kPolicies) names.emplace_back(row.name);
  return names;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, SearchContext context) {
  if (context.pool == nullptr || !context.write) return internal_error("a search needs a pool of strategies and a coder");
  if (context.batch < 1 || context.islands < 1)
    return bad_input(fmt::format("{} islands and batches of {} are no search", context.islands, context.batch),
                     "give at least 1 of each");
  for (const PolicyRow& row : kPolicies)
    if (row.name == name) return row.make(std::move(context));
  return bad_input(fmt::format("no search is called '{}'", name), fmt::format("choose one of {}", fmt::join(policy_names(), ", ")));
}

}  // namespace kw
