#include "playbook/product_parts.h"

#include <algorithm>

namespace kw {
namespace {

constexpr double kWorthThreads = 200e3;  // multiplications
constexpr std::int64_t kPartRows = 192;  // that one thread should have at least, where there are several parts
constexpr std::int64_t kPartColumns = 128;
constexpr std::int64_t kFewestRows = 24;     // of a part at all
constexpr std::int64_t kDepthOfPart = 2048;  // inner positions that are worth a part of their own

void divide_rows_and_columns(ProductParts& parts, const StageWriter& writer, const ProductFacts& facts, bool panels,
                             bool skip_zeros) {
  const std::int64_t threads = std::max(writer.machine.threads, 1);
  if (panels && skip_zeros && !facts.right_band && !facts.result_band && facts.columns >= threads * kPartColumns) {
    parts.of_columns = std::max<std::int64_t>(1, threads / facts.batches);  // a triangle on the left: all columns are the same work
    return;
  }
  parts.uneven = skip_zeros || writer.wants("balanced_schedule");
  const std::int64_t wanted = (parts.uneven ? 2 : 1) * threads;
  if (facts.batches >= wanted) return;
  const std::int64_t each = (wanted + facts.batches - 1) / facts.batches;
  parts.of_rows = std::clamp<std::int64_t>(facts.rows / (skip_zeros ? kPartRows / 2 : kPartRows), 1, each);
  if (panels)
    parts.of_columns = std::clamp<std::int64_t>(facts.columns / kPartColumns, 1, (each + parts.of_rows - 1) / parts.of_rows);
  if (parts.of_rows * parts.of_columns * facts.batches >= threads) return;
  parts.of_rows = std::clamp<std::int64_t>(facts.rows / kFewestRows, 1, each);  // small parts are better than idle threads
  parts.of_columns = 1;
  if (panels && parts.of_rows == 1) parts.of_columns = std::clamp<std::int64_t>(facts.columns / kFewestRows, 1, each);
}

}  // namespace

ProductParts product_parts(StageWriter& writer, const ProductFacts& facts, bool right_packed, bool skip_zeros) {
  ProductParts parts;
  const std::int64_t threads = std::max(writer.machine.threads, 1);
  const bool worth = facts.multiplications() >= kWorthThreads;
  const std::int64_t outputs = facts.batches * facts.rows * facts.columns;
  if (worth && facts.depth >= 2 * kDepthOfPart && outputs <= 64 * 1024 && writer.use("split_depth")) {
    parts.split = true;
    parts.parallel = true;
    parts.of_depth = std::min(2 * threads, facts.depth / kDepthOfPart);
    parts.depth = (facts.depth + parts.of_depth - 1) / parts.of_depth;
    parts.depth = (parts.depth + facts.group() - 1) / facts.group() * facts.group();
    parts.of_depth = (facts.depth + parts.depth - 1) / parts.depth;
    return parts;
  }
  const bool panels = worth && writer.wants("parallel_panels");
  if (!panels && !(worth && writer.wants("parallel_outer"))) return parts;
  // Threads that go through all columns together pack the right operand once; each by itself would pack all of it.
  parts.shared = panels && right_packed && !skip_zeros && facts.batches == 1 && threads > 1 && facts.rows >= threads * kPartRows;
  if (parts.shared) {
    parts.parallel = true;
    writer.use("parallel_panels");
    parts.uneven = writer.use("balanced_schedule");
    return parts;
  }
  divide_rows_and_columns(parts, writer, facts, panels, skip_zeros);
  parts.parallel = facts.batches * parts.of_rows * parts.of_columns > 1;
  if (parts.parallel) writer.use(panels ? "parallel_panels" : "parallel_outer");
  if (parts.parallel && parts.uneven) writer.use("balanced_schedule");
  return parts;
}

}  // namespace kw
