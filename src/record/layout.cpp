#include "record/layout.h"

#include <algorithm>
#include <numeric>

namespace kw {

std::vector<int> memory_order(const TensorSpec& spec) {
  std::vector<int> order(spec.shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (spec.strides.size() != spec.shape.size() || spec.is_contiguous()) return order;
  // The stride of a single element means nothing.
  const auto step = [&](int dim) {
    const auto d = static_cast<std::size_t>(dim);
    return spec.shape[d] == 1 ? 0 : spec.strides[d];
  };
  std::ranges::stable_sort(order, [&](int a, int b) { return step(a) > step(b); });
  return order;
}

}  // namespace kw
