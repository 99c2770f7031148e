// Rows that threads share: how a loop over a row is written for a warp or a block, and what stays in registers between passes.
#pragma once

#include "playbook/gpu_stage.h"

namespace kw {

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
