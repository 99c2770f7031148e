// Attention within a graph: a softmax over the last dimension of scores, which are a product and what is made of it element by
// element, times values. It finds it and says which part of the scores counts; it writes no text.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "playbook/band.h"
#include "playbook/value.h"

namespace kw {

struct Attention {
  ValueId result = -1;          // [B, M, D]: weights times values
  ValueId product = -1;         // [B, M, N]: queries times keys
  ValueId scores = -1;          // what the softmax is taken of, at the product's own positions; any rank, M and N last
  bool unseen_is_zero = false;  // a row that sees nothing is 0, not NaN
  std::set<ValueId> inside{};   // everything between the product, which is one of them, and the result, which is not
  std::optional<Band> seen{};   // scores outside of it are minus infinity by construction
};

// `counts`: whether a value is needed at all. Nothing but the result may read what is inside.
std::optional<Attention> attention_at(const Graph& graph, ValueId result, const std::function<bool(ValueId)>& counts);

}  // namespace kw
