#include "search/genes.h"

#include <algorithm>
#include <set>

namespace kw {

bool contains(const Genes& genes, int gene) { return std::binary_search(genes.begin(), genes.end(), gene); }

namespace {

// The usable strategies whose needs, and the needs of these, are usable as well.
std::map<std::string, const Strategy*> realisable(const std::vector<Strategy>& pool, const std::vector<std::string>& usable) {
  const std::set<std::string> wanted(usable.begin(), usable.end());
  std::map<std::string, const Strategy*> kept;
  for (const Strategy& strategy : pool)
    if (wanted.contains(strategy.id)) kept.emplace(strategy.id, &strategy);
  const auto lacks_something = [&](const auto& entry) {
    return std::any_of(entry.second->needs.begin(), entry.second->needs.end(),
                       [&](const auto& need) { return !kept.contains(need); });
  };
  while (std::erase_if(kept, lacks_something) > 0) {
  }
  return kept;
}

void insert_gene(Genes& genes, int gene) {
  const auto place = std::lower_bound(genes.begin(), genes.end(), gene);
  if (place == genes.end() || *place != gene) genes.insert(place, gene);
}

}  // namespace

Catalogue::Catalogue(const std::vector<Strategy>& pool, const std::vector<std::string>& usable) {
  for (const auto& [id, strategy] : realisable(pool, usable)) {
    position_[id] = size();
    strategies_.push_back(*strategy);
  }
  const auto count = strategies_.size();
  conflicts_.assign(count, std::vector<bool>(count, false));
  for (std::size_t a = 0; a < count; ++a)
    for (const std::string& id : strategies_[a].conflicts)
      if (const auto other = position_.find(id); other != position_.end()) {
        const auto b = static_cast<std::size_t>(other->second);
        if (a != b) conflicts_[a][b] = conflicts_[b][a] = true;
      }
  for (std::size_t a = 0; a < count; ++a) {
    Genes all;
    std::vector<int> open{static_cast<int>(a)};
    while (!open.empty()) {
      const int gene = open.back();
      open.pop_back();
      for (const std::string& id : (*this)[gene].needs) {
        const int need = position_.at(id);
        if (need == static_cast<int>(a) || contains(all, need)) continue;
        insert_gene(all, need);
        open.push_back(need);
      }
    }
    needs_.push_back(std::move(all));
  }
}

bool Catalogue::conflict(int a, int b) const { return conflicts_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; }

Genes Catalogue::genes(const std::vector<std::string>& ids) const {
  Genes genes;
  for (const std::string& id : ids)
    if (const auto found = position_.find(id); found != position_.end()) insert_gene(genes, found->second);
  return genes;
}

std::vector<std::string> Catalogue::ids(const Genes& genes) const {
  std::vector<std::string> ids;
  for (const int gene : genes) ids.push_back((*this)[gene].id);
  return ids;
}

Genes Catalogue::together(const std::vector<int>& in_order) const {
  Genes kept;
  for (const int gene : in_order) {
    if (contains(kept, gene)) continue;
    Genes added = needs(gene);
    insert_gene(added, gene);
    const bool fits = std::none_of(added.begin(), added.end(), [&](int a) {
      const auto clashes = [&](int b) { return conflict(a, b); };
      return std::any_of(kept.begin(), kept.end(), clashes) || std::any_of(added.begin(), added.end(), clashes);
    });
    if (!fits) continue;
    for (const int a : added) insert_gene(kept, a);
  }
  return kept;
}

Genes Catalogue::with(const Genes& genes, int gene) const {
  std::vector<int> in_order{gene};
  in_order.insert(in_order.end(), genes.begin(), genes.end());
  return together(in_order);
}

Genes Catalogue::without(const Genes& genes, int gene) const {
  Genes kept;
  for (const int other : genes)
    if (other != gene && !contains(needs(other), gene)) kept.push_back(other);
  return kept;
}

}  // namespace kw
