#include "search/counterparts.h"

#include <fmt/format.h>

#include "base/json.h"

namespace kw {

Result<Counterparts> Counterparts::load(const StrategyPool& pool) {
  KW_TRY(const fs::path root, install_root());
  const fs::path file = root / "knowledge" / "migration" / "counterparts.json";
  KW_TRY(const std::string text, read_file(file));
  KW_TRY(const Json json, parse_json(text, file.string()));
  Counterparts read;
  KW_TRY(const bool whole, read_fields(file.string(), [&] {
           for (const auto& pair : json.at("pairs")) {
             for (const auto& [target, id] : pair.items())
               for (const auto& [other_target, other] : pair.items())
                 if (target != other_target)
                   read.pairs_[id.get<std::string>()].emplace_back(other_target, other.get<std::string>());
           }
           read.none_ = json.at("none").get<std::map<std::string, std::string>>();
           return true;
         }));
  (void)whole;
  for (const auto& [id, others] : read.pairs_)
    if (pool.find(id) == nullptr) return bad_input(fmt::format("{}: there is no strategy '{}'", file.string(), id));
  for (const auto& [id, why] : read.none_)
    if (pool.find(id) == nullptr) return bad_input(fmt::format("{}: there is no strategy '{}'", file.string(), id));
  return read;
}

std::vector<std::string> Counterparts::of(const Strategy& strategy, std::string_view target) const {
  if (strategy.target == target) return {strategy.id};
  std::vector<std::string> found;
  if (const auto pairs = pairs_.find(strategy.id); pairs != pairs_.end())
    for (const auto& [other_target, other] : pairs->second)
      if (other_target == target) found.push_back(other);
  return found;
}

std::string Counterparts::why_none(const std::string& id) const {
  const auto found = none_.find(id);
  return found == none_.end() ? "" : found->second;
}

}  // namespace kw
