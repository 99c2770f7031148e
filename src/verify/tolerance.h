// How far a kernel's output may be from the float64 reference: a small multiple of the error that eager itself makes.
// It knows numbers only; reading tensors and giving verdicts is compare.h's.
//
// For element i of a floating output, with reference r and eager e:
//
//   noise     = max(max |e - r|, typical max |r|, nearby, cancelled) over the neighbourhood of i, times noise_scale
//   nearby    = the largest |e - r| on inputs that differ in their last digits; only where i would be a little beyond its tolerance
//   cancelled = what eager errs by in other neighbourhoods without a value; only where max |r| is below float64's own error
//   typical   = median over neighbourhoods of max |e - r| / max |r|
//   rounding  = 64 eps max(|r_i|, rms of r in the neighbourhood)
//   variation = max(0.02 std of the whole reference, 8 eps |r_i|)
//   tolerance = max(8 noise, min(rounding, variation)) + tiny
//
// Eager's own error is the noise floor, and the first term follows it. A neighbourhood with a single large value (a softmax of
// large logits) may have been lucky in eager: `typical` is what such a value errs by elsewhere. Where conditions differ between
// neighbourhoods that is not enough; one in twenty of them may therefore be off by what `typical` would be with the 95th
// percentile in place of the median. Where next to nothing is left of a neighbourhood (one small value among zeros after a ReLU),
// its largest value says nothing of what it was computed from: one in 500 may be off by 8 times the median of max |e - r| itself. A
// lower precision, or a mistake that does not follow eager's noise, is off in more. Where
// eager happens to be exact (a blocked sum, a row of zeros) `rounding` keeps room for an honest float32 sum in another order: one
// running sum of n terms errs by up to about sqrt(n) eps of the result's rms, so that 64 does for n = 4096; longer sums have to be
// split, as eager's are. Products of tf32, fp16 or bf16 inputs of either sign are at least 2^5 beyond it. `variation` keeps one
// constant from fitting an output that hardly varies.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "record/tensor.h"

namespace kw {

struct ToleranceRule {
  double epsilon = 0;      // of the output's dtype, or of the stated precision where that is coarser
  double tiny = 0;         // absolute: flushing subnormal results to zero is no error
  double noise_scale = 1;  // what makes eager's error the noise of this output; 2^-29 for float64 beside float32
  double noise_multiple = 8;
  double rounding_multiple = 64;
  double variation_share = 0.02;
  double variation_rounding = 8;  // multiple of epsilon * |r| that even an output without variation is granted
};

// `stated_epsilon` is 0 when no lower precision was stated. Integers are exact: their epsilon is 0.
ToleranceRule tolerance_rule(DType dtype, double stated_epsilon = 0, double noise_scale = 1);

// The spacing of values at 1 for `--precision`: 0 for float32 (the dtype's own applies), 2^-10 for tf32 and fp16, 2^-7
// for bf16.
Result<double> stated_epsilon(std::string_view precision);

// What scales eager's error to the noise of this output: 2^-29 where eager was run in float32 for a float64 output.
double noise_scale(DType output, DType eager);

// What is known of the elements around one: made once a neighbourhood.
struct NoiseFloor {
  double noise = 0;                                            // max |eager - reference|, or what is typical; not yet scaled
  double rms = 0;                                              // of the reference
  double variation = std::numeric_limits<double>::infinity();  // standard deviation of the whole reference output
};

inline double tolerance_from_noise_floor(const ToleranceRule& rule, const NoiseFloor& floor, double reference) {
  const double size = std::fabs(reference);
  const double scale = size > floor.rms ? size : floor.rms;
  const double rounding = rule.rounding_multiple * rule.epsilon * scale;
  const double spread = rule.variation_share * floor.variation;
  const double own = rule.variation_rounding * rule.epsilon * size;
  const double variation = spread > own ? spread : own;
  const double room = rounding < variation ? rounding : variation;
  const double noise = rule.noise_multiple * rule.noise_scale * floor.noise;
  return (noise > room ? noise : room) + rule.tiny;
}

// The neighbourhoods of a contiguous output: a row along the last dimension, cut evenly where it is longer than 1024
// elements; rows shorter than 256 are grouped until a neighbourhood has 256. Each is a range of consecutive elements.
class Neighbourhoods {
 public:
  static constexpr std::int64_t kMost = 1024;
  static constexpr std::int64_t kFew = 256;

  explicit Neighbourhoods(std::span<const std::int64_t> shape);

  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] std::int64_t count() const { return groups_ * cuts_; }
  [[nodiscard]] Range range(std::int64_t index) const;

 private:
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t groups_ = 0;  // each of one or more whole rows
  std::int64_t cuts_ = 1;    // of each group; more than one only where a group is one long row
};

// Count, mean and variance of the finite values of a stream, mergeable across threads.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared distances from the mean

  void merge(const Moments& other);
  // Infinite for a single value, of whose variation nothing is known.
  [[nodiscard]] double standard_deviation() const;
};

}  // namespace kw
