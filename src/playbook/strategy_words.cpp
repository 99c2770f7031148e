#include <map>

#include "playbook/kernel_text.h"

namespace kw {

std::string_view strategy_words(const std::string& id) {
  static const std::map<std::string, std::string_view> words{
      {"parallel_outer", "the outer loops run on all threads"},
      {"balanced_schedule", "threads take pieces of work as they finish"},
      {"explicit_vectors", "the inner loops work on vectors"},
      {"masked_tails", "what is left of a row is one vector with lanes masked off"},
      {"tile_rows_together", "several rows at a time, each with its own running result"},
      {"vector_maths", "functions are polynomials on vectors"},
      {"skip_idle_lanes", "no exponentials for vectors in which no lane needs one"},
      {"unroll_inner", "several vectors an iteration"},
      {"stream_stores", "outputs are written past the caches"},
      {"fuse_chain", "pointwise operations where they are used"},
      {"reciprocal_multiply", "one division a row, then multiplications"},
      {"prefetch_ahead", "what is read next is asked for early"},
      {"prefetch_gather", "rows that are picked later are asked for early"},
      {"wide_column_tiles", "tiles of many columns, running results in the nearest cache"},
      {"prefetch_next_row", "the next row is asked for while this one is in cache"},
      {"fuse_row_passes", "all passes over a row while it is in cache"},
      {"multiple_accumulators", "independent running results"},
      {"blocked_sums", "sums of sums of blocks"},
      {"online_softmax", "maximum and sum of exponentials in one pass"},
      {"online_moments", "mean and squared distances from it, block by block in one visit of the row"},
      {"online_attention", "each block of keys is folded into a running softmax; no matrix of scores"},
      {"keep_row_values", "what a row computes is kept for its second use"},
      {"tile_columns", "tiles of neighbouring columns"},
      {"split_reduction", "long reductions are shared out and combined"},
      {"vector_scan", "prefix sums within a vector"},
      {"split_scan", "long rows are scanned in chunks by several threads"},
      {"scan_columns", "scans over vectors of columns"},
      {"window_interior", "windows inside run without checks of bounds"},
      {"separable_window", "one dimension of the window after the other"},
      {"vector_argument", "vectors of candidates with their positions"},
      {"register_tile", "a tile of the output in registers"},
      {"convolution_tile", "a tile of channels by pixels in registers, from a padded copy"},
      {"im2col_pack", "patches packed as the panels of a product"},
      {"winograd", "tiles of 2 x 2 outputs of a 3 x 3 window take 16 products instead of 36"},
      {"cache_tile_depth", "blocks of the inner dimension sized for the caches"},
      {"cache_tile_rows", "blocks of rows sized for the caches"},
      {"pack_left", "panels of the left operand in the order of reading"},
      {"pack_right", "panels of the right operand in the order of reading"},
      {"prepack_weights", "weights packed once"},
      {"fuse_epilogue", "what follows the product while the tile is hot"},
      {"fuse_prologue", "what precedes an operand while packing it"},
      {"parallel_panels", "threads share out panels of the output"},
      {"split_depth", "the inner dimension is shared out"},
      {"skip_zero_triangle", "blocks of zeros are left out"},
      {"diagonal_as_scale", "a diagonal factor scales"},
      {"fold_batch_norm", "scales and shifts behind a linear map are in its weights"},
      {"sum_weights_first", "a sum behind a linear map is of its weights or inputs"},
      {"pool_into_convolution", "means of windows are in the weights of a convolution"},
      {"dot_rows", "several rows against one read of the vector"},
  };
  const auto found = words.find(id);
  return found == words.end() ? "as its name says" : found->second;
}

}  // namespace kw
