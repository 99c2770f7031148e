// Rows that threads share: how a loop over a row is written for a warp or a block, and what stays in registers between passes.
#pragma once

#include "playbook/gpu_stage.h"

namespace kw {

// Dimensions of a shape that are no row dimensions of the stage.
std::vector<int> inner_dims_of(const Shape& shape, const Stage& stage);

// The longest reduction of the stage that is the same for a whole row: its operand's shape and dimensions.
struct RowReduction {
  ValueId value = -1;
  std::int64_t elements = 0;
  Shape shape;
  std::vector<int> dims;
};
RowReduction row_reduction(const GpuWriter& writer, const Stage& stage);

constexpr std::int64_t kMostItems = 16;  // pieces of a row that a thread keeps

// How the threads that share a row are spelled.
struct RowThreads {
  std::string first;    // "threadIdx.x" or "lane": the thread's number among those that share the row
  std::string threads;  // "KW_THREADS" or "32": how many they are
  bool vector = false;
  bool items = false;  // positions are counted by an unrolled loop: needed where something is kept in registers
  std::string begin;   // where the share of a part of the row starts and ends; empty: the whole row
  std::string end;
};

// The loop over a row for Emitter::row_group.
std::function<void(std::int64_t, const std::function<void(VarId)>&)> row_loop(GpuKernel& kernel, const RowThreads& who);

// Values of the row that two passes need, in the order in which they can be computed.
std::vector<ValueId> values_to_keep_in_registers(const GpuWriter& writer, const Stage& stage, const Shape& row_shape);

// Reads the row once for maximum and sum of exponentials; false: the stage has no such pair.
bool write_online_row(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const Index& row);

}  // namespace kw
