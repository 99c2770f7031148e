// @title@: a kernel by Kernelwright. Shapes are static: other shapes are another kernel. No PyTorch is needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace @name@ {

inline constexpr std::size_t alignment = 64;  // of every pointer below, in bytes

// The tensors: shapes, and strides in elements as the memory has them.
@constants@
// What each call reads.
struct Inputs {
@input_fields@};

// What stays the same between calls.
struct Weights {
@weight_fields@};

// What each call writes, contiguous.
struct Outputs {
@output_fields@};

// The kernel with its weights. The memory of the weights stays the caller's, unchanged for as long as this object lives@prepare_words@.
// Throws std::invalid_argument where a pointer is null or not aligned. Calls may come from several threads: they take turns,
// because each uses all threads of OpenMP.
class __attribute__((visibility("default"))) Kernel {
 public:
  explicit Kernel(const Weights& weights);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  void operator()(const Inputs& inputs, const Outputs& outputs) const;

 private:
  Weights weights_;
  void* state_ = nullptr;
};

}  // namespace @name@
