// How a dense product is divided among threads. It writes no text.
#pragma once

#include "playbook/product.h"

namespace kw {

struct ProductParts {
  std::int64_t of_rows = 1;  // how many parts the rows, the columns and the inner dimension are in
  std::int64_t of_columns = 1;
  std::int64_t of_depth = 1;
  std::int64_t depth = 0;  // inner positions of each part, where that dimension is divided
  bool split = false;      // it is
  bool parallel = false;   // several threads at all
  bool shared = false;     // all threads work on each block of columns, over panels that they packed together
  bool uneven = false;     // parts take different times
};

// Claims the strategies that take effect by it.
ProductParts product_parts(StageWriter& writer, const ProductFacts& facts, bool right_packed, bool skip_zeros);

}  // namespace kw
