// Sets of strategies as the policies handle them: small numbers instead of ids, closed under what strategies need and free of
// conflicts. It knows nothing about what a strategy is worth.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/strategy.h"

namespace kw {

using Genes = std::vector<int>;  // positions in the catalogue, sorted, each once

bool contains(const Genes& genes, int gene);

class Catalogue {
 public:
  // The usable strategies that are in the pool, in the order of their ids. One that needs what cannot be used is left out.
  Catalogue(const std::vector<Strategy>& pool, const std::vector<std::string>& usable);

  [[nodiscard]] int size() const { return static_cast<int>(strategies_.size()); }
  [[nodiscard]] const Strategy& operator[](int gene) const { return strategies_[static_cast<std::size_t>(gene)]; }
  [[nodiscard]] bool conflict(int a, int b) const;
  // Known ids only: the rest is nothing that a policy could ask for.
  [[nodiscard]] Genes genes(const std::vector<std::string>& ids) const;
  [[nodiscard]] std::vector<std::string> ids(const Genes& genes) const;

  // As many of these as fit together: what stands first wins, each brings along what it needs.
  [[nodiscard]] Genes together(const std::vector<int>& in_order) const;
  // A set with one more; what it conflicts with gives way.
  [[nodiscard]] Genes with(const Genes& genes, int gene) const;
  // A set with one less; what needs it goes too.
  [[nodiscard]] Genes without(const Genes& genes, int gene) const;

 private:
  [[nodiscard]] const Genes& needs(int gene) const { return needs_[static_cast<std::size_t>(gene)]; }

  std::vector<Strategy> strategies_;
  std::map<std::string, int> position_;
  std::vector<Genes> needs_;  // of each, all the way down, without itself
  std::vector<std::vector<bool>> conflicts_;
};

}  // namespace kw
