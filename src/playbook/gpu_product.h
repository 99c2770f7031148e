// What the families of products on a GPU share: how operands lie in memory, and how tiles of them get to shared memory.
#pragma once

#include <string>

#include "playbook/gpu_stage.h"

namespace kw {

// One operand of a product: rows (of the left operand) or columns (of the right one) by depth.
struct GpuOperand {
  ValueId value = -1;
  bool left = true;
  std::int64_t extent = 1;  // rows of the left, columns of the right
  bool along_depth = true;  // neighbours in memory are neighbours in depth
  bool direct = false;      // it is in memory as it is
  [[nodiscard]] Index index(const Affine& batch, const Affine& outer, const Affine& depth) const {
    return left ? Index{batch, outer, depth} : Index{batch, depth, outer};
  }
};

struct GpuProduct {
  ValueId value = -1;
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;
  GpuOperand left, right;
};

GpuProduct gpu_product(GpuWriter& writer, const Stage& stage);

// How a tile is copied: its numbers of rows and of depth (texts over knobs), the distance of what is next in its outer dimension,
// the threads that share the work.
struct TileCopy {
  std::string outer;   // "KW_BM"
  std::string depth;   // "KW_BK"
  std::string stride;  // of the tile in shared memory: "(KW_BK + KW_PAD)"
  std::string threads;
  std::int64_t lanes = 1;  // elements of one access
  bool async = false;
  std::string element = "float";
  std::string place;  // how a position becomes an offset: "{outer} * stride + {depth}", or a function; empty: by the stride
};

// const auto NAME = [&](ELEMENT* to, int from) {...}: copies the operand's tile at `first` (outer) and `from` (depth, less than
// `depth_end`), zeros outside.
void write_tile_copy(GpuKernel& kernel, const GpuProduct& product, const GpuOperand& operand, const TileCopy& copy,
                     const std::string& name, const std::string& first, const std::string& depth_end, const Affine& batch);

// Stores what is made of an element (or vector) of the product, which is `text`.
void store_product(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const GpuProduct& product, const Index& index,
                   const std::string& text, bool vector);

}  // namespace kw
