#include "verify/pattern_evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <bit>
#include <cmath>

#include "verify/elements.h"

namespace kw {
namespace {
constexpr std::int64_t kSamples = 4096;
constexpr std::int64_t kCounted = 2'000'000;  // wrong elements whose place is looked at one by one
}  // namespace

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

Evidence::Evidence(const CompareInput& compared, const CompareOutcome& result)
    : input(compared),
      outcome(result),
      shape(compared.shape),
      elements(compared.numel()),
      wrong_count(result.error.wrong_elements) {
  if (shape.empty()) shape.push_back(1);
  strides.assign(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  sample_everywhere();
  sample_wrong();
  count_along_dimensions();
}

Sample Evidence::at(std::int64_t element) const {
  return {element, element_as_double(input.kernel, input.dtype, element),
          element_as_double(input.reference, input.reference_dtype, element)};
}

void Evidence::sample_everywhere() {
  const auto count = std::min(elements, kSamples);
  for (std::int64_t i = 0; i < count; ++i) {
    // Evenly spread, with a jitter that keeps the step from falling in with a row's length.
    const auto begin = elements * i / count, end = elements * (i + 1) / count;
    everywhere.push_back(at(begin + i * 2654435761 % (end - begin)));
  }
}

void Evidence::sample_wrong() {
  const auto step = std::max<std::int64_t>(1, wrong_count / kSamples);
  const auto& words = outcome.map.words();
  std::int64_t seen = 0, due = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const auto here = std::popcount(words[w]);
    auto word = words[w];
    auto rank_in_word = seen;
    while (due < seen + here) {
      for (; rank_in_word < due; ++rank_in_word) word &= word - 1;
      wrong.push_back(at(static_cast<std::int64_t>(w * 64) + std::countr_zero(word)));
      due += step;
    }
    seen += here;
  }
}

void Evidence::count_along_dimensions() {
  wrong_along_.resize(rank());
  for (std::size_t d = 0; d < rank(); ++d) wrong_along_[d].assign(static_cast<std::size_t>(shape[d]), 0);
  const auto columns = shape.back();
  // The columns of every wrong row only while they are few.
  const auto step = wrong_count / kCounted + 1;
  std::int64_t counted = 0, rows = 0;
  for (auto i = outcome.map.next(0); i >= 0; ++rows) {
    const auto begin = i / columns * columns, end = begin + columns;
    const auto in_row = outcome.map.count(begin, end);
    for (std::size_t d = 0; d + 1 < rank(); ++d) wrong_along_[d][static_cast<std::size_t>(index_along(begin, d))] += in_row;
    if (rows % step == 0) {
      counted += in_row;
      for (; i >= 0 && i < end; i = outcome.map.next(i + 1)) ++wrong_along_.back()[static_cast<std::size_t>(i - begin)];
    } else {
      i = end < elements ? outcome.map.next(end) : -1;
    }
  }
  counted_columns_ = wrong_count > 0 ? static_cast<double>(counted) / static_cast<double>(wrong_count) : 1;

  for (std::size_t d = 0; d < rank(); ++d) {
    const auto& along = wrong_along_[d];
    const auto is_wrong = [](std::int64_t count) { return count > 0; };
    const auto first = std::find_if(along.begin(), along.end(), is_wrong) - along.begin();
    const auto last = along.rend() - std::find_if(along.rbegin(), along.rend(), is_wrong) - 1;
    box.push_back({first, std::max<std::int64_t>(first, last)});
  }
  // Rows that were passed over may hold wrong elements outside of it.
  for (const auto& sample : wrong)
    for (std::size_t d = 0; d < rank(); ++d) {
      box[d].first = std::min(box[d].first, index_along(sample.index, d));
      box[d].last = std::max(box[d].last, index_along(sample.index, d));
    }
}

double Evidence::density(std::size_t dimension, std::int64_t index) const {
  const auto count = static_cast<double>(wrong_along_[dimension][static_cast<std::size_t>(index)]);
  const double of = static_cast<double>(elements) / static_cast<double>(shape[dimension]);
  return std::min(1.0, count / of / (dimension + 1 == rank() ? counted_columns_ : 1));
}

double Evidence::slack(double value) const {
  const double rms = std::isfinite(outcome.reference_rms) ? outcome.reference_rms : 0;
  return 16 * input.rule.epsilon * (std::fabs(value) + std::min(rms, 4 * outcome.variation)) + input.rule.tiny;
}

bool Evidence::explains(const Sample& sample, double prediction) const {
  const double left = std::fabs(sample.kernel - prediction);
  return left <= 0.05 * std::fabs(sample.kernel - sample.reference) + slack(prediction);
}

bool Evidence::errors_tell() const {
  std::size_t large = 0;
  for (const auto& sample : wrong)
    if (std::fabs(sample.kernel - sample.reference) > 8 * slack(sample.reference)) ++large;
  return !wrong.empty() && large * 2 >= wrong.size();
}

std::string Evidence::place(const std::vector<Bounds>& bounds) const {
  if (input.shape.empty()) return input.name;
  std::vector<std::string> parts(rank());
  for (std::size_t d = 0; d < rank(); ++d) {
    const auto [first, last] = bounds[d];
    parts[number_of(d)] = first == last                        ? std::to_string(first)
                          : first == 0 && last == shape[d] - 1 ? std::string(":")
                                                               : fmt::format("{}..{}", first, last);
  }
  return fmt::format("{}[{}]", input.name, fmt::join(parts, ", "));
}

std::string Evidence::place_of(std::int64_t element) const {
  std::vector<Bounds> bounds;
  for (std::size_t d = 0; d < rank(); ++d) bounds.push_back({index_along(element, d), index_along(element, d)});
  return place(bounds);
}

std::string Evidence::share_text() const {
  return fmt::format("{} of {} elements ({:.3g}%) are wrong", wrong_count, elements, 100 * wrong_share());
}

std::string Evidence::example(const Sample& sample) const {
  return fmt::format("{} is {:.7g}, should be {:.7g}", place_of(sample.index), sample.kernel, sample.reference);
}

}  // namespace kw
