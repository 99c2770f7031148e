#include <map>

#include "playbook/kernel_text.h"

namespace kw {

std::string_view gpu_strategy_words(const std::string& id) {
  static const std::map<std::string, std::string_view> words{
      {"fuse_kernels", "pointwise operations where they are used"},
      {"fuse_row_kernel", "all passes over a row in one kernel"},
      {"fuse_tile_epilogue", "what follows the product while its tile is in registers"},
      {"fuse_tile_prologue", "what precedes an operand while its tile is loaded"},
      {"launch_shape", "the number of threads of a block is a knob"},
      {"occupancy", "registers are bounded so that several blocks fit an SM"},
      {"vector_load", "16 bytes for each access to memory"},
      {"unroll_items", "several independent pieces of work a thread"},
      {"persistent", "as many blocks as the GPU holds, each going over the whole"},
      {"multiply_reciprocals", "one division a row, then multiplications"},
      {"coalesce_rows", "neighbouring threads read neighbouring elements of a row"},
      {"warp_reduce", "threads of a warp join their results by exchanges of registers"},
      {"warp_per_row", "a warp for each row, without barriers"},
      {"keep_row_registers", "a row is read once and stays in registers"},
      {"online_row", "maximum and sum of exponentials in one pass"},
      {"split_rows", "long reductions are shared out over blocks and joined by a second kernel"},
      {"transpose_tile", "tiles turn round in shared memory"},
      {"shared_tile", "tiles of both operands in shared memory"},
      {"thread_tile", "a tile of the output in the registers of a thread"},
      {"avoid_bank_conflicts", "rows in shared memory are padded"},
      {"swizzle", "columns in shared memory are exchanged by the row's number"},
      {"async_copy", "tiles go to shared memory without registers"},
      {"multistage", "tiles are asked for several steps ahead"},
      {"tensor_core", "products by tensor cores"},
      {"split_k", "the inner dimension is shared out over blocks"},
      {"fast_maths", "functions by the special function units alone"},
  };
  const auto found = words.find(id);
  return found == words.end() ? "as its name says" : found->second;
}

}  // namespace kw
