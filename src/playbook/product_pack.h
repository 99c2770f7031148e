// Text that copies panels of a product's operand into the order in which tiles read them.
#pragma once

#include <functional>
#include <string>

#include "playbook/product.h"

namespace kw {

// A panel is `width` rows of the left operand (or columns of the right one): for each inner position its `width` elements. Past the
// operand's extent a panel repeats the last row or column: nobody uses what comes of it.
struct PanelText {
  const ProductOperand& operand;
  std::int64_t batches = 1;
  std::int64_t depth = 1;
  std::string width;  // a constant expression
  std::string outer;  // what the outer dimension's variable is called
  std::function<Index(const Affine& batch, const Affine& outer, const Affine& inner)> index;
};

// const auto NAME = [&](batch, first, steps, begin, end, packed) {...}: the panels of rows (columns) begin to end, for inner
// positions first to first + steps. `batch` only where there are several. May write kw_lanes - 1 floats past the end.
void write_pack_function(Emitter& emitter, const PanelText& panel, const std::string& name, bool vectors);

}  // namespace kw
