// Compares one output of a kernel with the float64 reference, beside eager's own error, in blocks and on all cores.
// It judges values only; where the wrong ones are and what that says of the code is pattern.h's.
//
// Floating outputs: within the tolerance of tolerance.h. NaN and infinities must match in place: where the reference
// is not finite the kernel has to be the same (or the same as eager, or near eager where eager is finite); where eager
// overflows and the reference does not, both eager's infinity and the reference's value are right; a NaN where both
// are finite is wrong, and so is the NaN that outputs are filled with, anywhere. Integers and booleans: the exact bytes of the
// reference, or of eager where the two differ; positions among values that tie: any that selects the same value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/tensor.h"
#include "record/verdict.h"
#include "verify/tied_positions.h"
#include "verify/tolerance.h"

namespace kw {

// Tensors of one shape that lie alike in memory, without gaps. Pointers are aligned to their element; each has its own dtype.
struct CompareInput {
  std::string name = "out";  // for messages
  const void* kernel = nullptr;
  DType dtype = DType::f32;
  const void* reference = nullptr;
  DType reference_dtype = DType::f64;  // float64 for a floating output; for an integer one, any integer type
  const void* eager = nullptr;
  DType eager_dtype = DType::f32;
  const double* nearby = nullptr;     // what eager errs by on inputs next to these; null: not known
  const double* flushed = nullptr;    // how far from the reference an element may be because subnormal inputs count as zeros
  std::optional<TiedPositions> ties;  // of an output that is positions
  std::vector<std::int64_t> shape;    // as it lies in memory, the outermost dimension first
  std::vector<int> dimensions;        // the number that each of these has in PyTorch; empty: 0, 1, ...
  ToleranceRule rule;                 // tolerance_rule(dtype, ...)
  int threads = 0;                    // 0: as many as this process may use

  [[nodiscard]] std::int64_t numel() const;
};

// Fills in the rule: `precision` is float32 (each dtype's own), tf32, bf16 or fp16.
Result<CompareInput> compare_input(const TensorSpec& output, const void* kernel, const void* reference, DType reference_dtype,
                                   const void* eager, DType eager_dtype, std::string_view precision = "float32");

// Which elements are wrong: a bit each, kept only when some are.
class ErrorMap {
 public:
  [[nodiscard]] bool empty() const { return bits_.empty(); }
  [[nodiscard]] bool is_wrong(std::int64_t i) const {
    return !bits_.empty() && ((bits_[static_cast<std::size_t>(i >> 6)] >> (i & 63)) & 1) != 0;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return bits_; }
  // Wrong elements in [begin, end).
  [[nodiscard]] std::int64_t count(std::int64_t begin, std::int64_t end) const;
  // The first wrong element at or after `from`, or -1.
  [[nodiscard]] std::int64_t next(std::int64_t from) const;

  void start(std::int64_t elements);                        // all right
  void mark(std::int64_t word_index, std::uint64_t wrong);  // safe from several threads

 private:
  std::vector<std::uint64_t> bits_;
};

struct CompareOutcome {
  OutputError error;
  bool right = false;
  // Not right, but the right formula at a lower precision: every error is small beside its surroundings.
  bool looks_imprecise = false;
  double variation = 0;  // the standard deviation of the reference; infinite for a single element
  double reference_rms = 0;
  ErrorMap map;
};

CompareOutcome compare_output(const CompareInput& input);

}  // namespace kw
