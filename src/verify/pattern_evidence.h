// What the patterns look at: samples of the elements, and where along each dimension the wrong ones are. Gathered once,
// in a time that does not grow with very large outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/verdict.h"
#include "verify/compare.h"

namespace kw {

struct Sample {
  std::int64_t index = 0;
  double kernel = 0;
  double reference = 0;
};

struct Bounds {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

class Evidence {
 public:
  Evidence(const CompareInput& input, const CompareOutcome& outcome);

  const CompareInput& input;
  const CompareOutcome& outcome;
  std::vector<std::int64_t> shape;    // as it lies in memory; {1} for a single number
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t elements = 0;
  std::int64_t wrong_count = 0;
  std::vector<Sample> wrong;       // some thousand of the wrong elements, evenly spread
  std::vector<Sample> everywhere;  // the same of all elements
  std::vector<Bounds> box;         // the smallest that holds every wrong element

  [[nodiscard]] std::size_t rank() const { return shape.size(); }
  // What PyTorch calls the dimension.
  [[nodiscard]] std::size_t number_of(std::size_t dimension) const {
    return input.dimensions.empty() ? dimension : static_cast<std::size_t>(input.dimensions[dimension]);
  }
  [[nodiscard]] double wrong_share() const { return static_cast<double>(wrong_count) / static_cast<double>(elements); }
  [[nodiscard]] std::int64_t index_along(std::int64_t element, std::size_t dimension) const {
    return element / strides[dimension] % shape[dimension];
  }
  // Of the elements with this index along the dimension, the share that is wrong (0..1).
  [[nodiscard]] double density(std::size_t dimension, std::int64_t index) const;
  [[nodiscard]] Sample at(std::int64_t element) const;

  // An error that rounding alone may leave beside a value of this size.
  [[nodiscard]] double slack(double value) const;
  // Whether `prediction` accounts for the kernel's value much better than the reference does.
  [[nodiscard]] bool explains(const Sample& sample, double prediction) const;
  // Whether the errors are large enough beside rounding for any such account to mean something.
  [[nodiscard]] bool errors_tell() const;

  // "out[3, 0..7]", with ":" for a whole dimension.
  [[nodiscard]] std::string place(const std::vector<Bounds>& bounds) const;
  [[nodiscard]] std::string place() const { return place(box); }
  [[nodiscard]] std::string place_of(std::int64_t element) const;
  // "1200 of 65536 elements (1.8%)"
  [[nodiscard]] std::string share_text() const;
  // "out[0, 3] is 1.5, should be 3"
  [[nodiscard]] std::string example(const Sample& sample) const;

 private:
  void sample_wrong();
  void sample_everywhere();
  void count_along_dimensions();

  std::vector<std::vector<std::int64_t>> wrong_along_;  // by dimension and index
  double counted_columns_ = 1;                          // share of the wrong elements whose column was counted
};

// Each looks for a few patterns and gives the most specific one that fits, or nothing.
using PatternFinder = std::optional<Diagnosis> (*)(const Evidence&);

std::optional<Diagnosis> find_unwritten(const Evidence& evidence);    // uninitialised*
std::optional<Diagnosis> find_repeated(const Evidence& evidence);     // repeated_position
std::optional<Diagnosis> find_one_value(const Evidence& evidence);    // zeros, constant
std::optional<Diagnosis> find_nonfinite(const Evidence& evidence);    // nan, infinite, missing_nonfinite
std::optional<Diagnosis> find_place(const Evidence& evidence);        // tail, split, region, periodic
std::optional<Diagnosis> find_scale(const Evidence& evidence);        // sign_flipped, constant_factor, constant_offset
std::optional<Diagnosis> find_rearranged(const Evidence& evidence);   // transposed, permuted, shifted
std::optional<Diagnosis> find_group_scale(const Evidence& evidence);  // row_*, channel_*
std::optional<Diagnosis> find_scattered(const Evidence& evidence);    // scattered
std::optional<Diagnosis> find_rounded(const Evidence& evidence);      // low_precision: the output itself is rounded
std::optional<Diagnosis> find_coarse(const Evidence& evidence);       // low_precision, accumulation

// The starts of the tails (last indices of one or more dimensions) that hold every wrong element and are mostly wrong;
// a dimension without one has its extent. Nothing when the wrong elements are elsewhere too.
std::optional<std::vector<std::int64_t>> wrong_tails(const Evidence& evidence);

// What find_scale gives, of the wrong elements alone.
std::optional<Diagnosis> scale_of_wrong(const Evidence& evidence);

std::string number_text(double value);

}  // namespace kw
