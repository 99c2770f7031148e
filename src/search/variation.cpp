#include "search/variation.h"

#include <algorithm>

#include "search/draw.h"

namespace kw {

Genes random_genes(const Catalogue& catalogue, Random& random) {
  std::vector<int> order;
  for (int gene = 0; gene < catalogue.size(); ++gene)
    if (random.chance(0.5)) order.push_back(gene);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(draw_below(random, static_cast<int>(i)))]);
  return catalogue.together(order);
}

Genes crossed(const Workbench& bench, const Genes& one, const Genes& other, Random& random) {
  std::vector<int> order;
  for (const int gene : one)
    if (contains(other, gene) || random.chance(0.7)) order.push_back(gene);
  for (const int gene : other)
    if (!contains(one, gene) && random.chance(0.7)) order.push_back(gene);
  return bench.catalogue().together(order);
}

}  // namespace kw
