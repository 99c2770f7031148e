// Patterns of what the wrong elements hold beside what they should.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "verify/pattern_evidence.h"

namespace kw {
namespace {

constexpr double kNearlyAll = 0.97;

Diagnosis everywhere_as(const Evidence& evidence, std::string pattern, std::string summary, std::string hint) {
  Diagnosis diagnosis{"compare",       std::move(summary), evidence.place(), {evidence.share_text()},
                      std::move(hint), std::move(pattern)};
  for (std::size_t i = 0; i < std::min<std::size_t>(2, evidence.wrong.size()); ++i)
    diagnosis.evidence.push_back(evidence.example(evidence.wrong[i * (evidence.wrong.size() / 2)]));
  return diagnosis;
}

// The share of samples that predict(sample) accounts for. A prediction may be NaN where there is none; such samples do
// not count, but at least a third must.
template <typename Predict>
double explained_share(const Evidence& evidence, const std::vector<Sample>& samples, Predict&& predict) {
  std::size_t asked = 0, explained = 0;
  for (const auto& sample : samples) {
    const double prediction = predict(sample);
    if (std::isnan(prediction)) continue;
    ++asked;
    if (evidence.explains(sample, prediction)) ++explained;
    if (asked - explained > samples.size() / 20 + 1) return 0;  // nothing more can come of it
  }
  return asked * 3 < samples.size() || asked == 0 ? 0 : static_cast<double>(explained) / static_cast<double>(asked);
}

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Least squares through zero, which noise in small elements does not disturb.
double best_factor(const std::vector<Sample>& samples) {
  double products = 0, squares = 0;
  for (const auto& s : samples) {
    if (!std::isfinite(s.kernel) || !std::isfinite(s.reference)) continue;
    products += s.kernel * s.reference;
    squares += s.reference * s.reference;
  }
  return products / squares;
}

double best_offset(const std::vector<Sample>& samples) {
  std::vector<double> differences;
  for (const auto& s : samples) differences.push_back(s.kernel - s.reference);
  return median(std::move(differences));
}

double mean_left(const std::vector<Sample>& samples, double factor, double offset) {
  double left = 0;
  for (const auto& s : samples) left += std::fabs(s.kernel - (factor * s.reference + offset));
  return left / static_cast<double>(samples.size());
}

// What a factor may come from: the extent of a dimension, its root, a power of two.
std::string factor_text(const Evidence& evidence, double factor) {
  const auto is = [&](double value) { return std::fabs(factor / value - 1) < 1e-4; };
  for (const auto extent : evidence.shape) {
    const auto n = static_cast<double>(extent);
    if (n < 2) continue;
    if (is(n)) return fmt::format("{} is the extent of a dimension", extent);
    if (is(1 / n)) return fmt::format("that is 1/{}, the extent of a dimension", extent);
    if (is(std::sqrt(n)) || is(1 / std::sqrt(n)))
      return fmt::format("that is the square root of {}, the extent of a dimension (or one over it)", extent);
  }
  const double log = std::log2(std::fabs(factor));
  if (log != 0 && std::fabs(log - std::round(log)) < 1e-5) return fmt::format("that is 2^{}", std::lround(log));
  return {};
}

}  // namespace

std::optional<Diagnosis> find_one_value(const Evidence& evidence) {
  const auto& samples = evidence.everywhere;
  const double value = samples.front().kernel;
  const auto is_it = [&](const Sample& s) { return s.kernel == value || (std::isnan(value) && std::isnan(s.kernel)); };
  if (samples.size() < 2 || !std::all_of(samples.begin(), samples.end(), is_it)) return std::nullopt;
  if (value == 0)
    return everywhere_as(evidence, "zeros", "The whole output is zero.",
                         "The result never reaches the output: look at what is stored at the end, and whether the accumulator is "
                         "reset after the sum.");
  if (!std::isfinite(value)) return std::nullopt;
  return everywhere_as(evidence, "constant", fmt::format("The whole output is one value, {}.", number_text(value)),
                       "The result does not depend on the element: look at the index that reads the inputs, and at a reduction "
                       "that spans too much.");
}

std::optional<Diagnosis> find_nonfinite(const Evidence& evidence) {
  std::size_t nan = 0, infinite = 0, missing = 0;
  for (const auto& s : evidence.wrong) {
    if (std::isnan(s.kernel))
      ++nan;
    else if (std::isinf(s.kernel))
      ++infinite;
    else if (!std::isfinite(s.reference))
      ++missing;
  }
  const auto most = [&](std::size_t count) { return count * 2 >= evidence.wrong.size() && count > 0; };
  const auto count_text = [&](std::size_t count, const char* what) {
    return fmt::format("{} of {} wrong elements looked at are {}", count, evidence.wrong.size(), what);
  };
  if (most(nan)) {
    auto diagnosis =
        everywhere_as(evidence, "nan", "The kernel gives NaN where there should be numbers.",
                      "Look for 0/0, inf - inf (a running maximum that starts at -inf), the root or log of a negative number, "
                      "and for memory that is read before it is written.");
    diagnosis.evidence.push_back(count_text(nan, "NaN"));
    return diagnosis;
  }
  if (most(infinite)) {
    auto diagnosis = everywhere_as(evidence, "infinite", "The kernel gives infinities where there should be numbers.",
                                   "Look for a division by zero, and for exp of large numbers: subtract the row's maximum first.");
    diagnosis.evidence.push_back(count_text(infinite, "infinite"));
    return diagnosis;
  }
  if (most(missing)) {
    auto diagnosis =
        everywhere_as(evidence, "missing_nonfinite", "The kernel gives numbers where NaN or infinity is due.",
                      "A comparison with NaN is false: max and min written with < or > drop it, and so do -ffast-math and clamps.");
    diagnosis.evidence.push_back(count_text(missing, "finite where the reference is not"));
    return diagnosis;
  }
  return std::nullopt;
}

std::optional<Diagnosis> scale_of_wrong(const Evidence& evidence) {
  const auto& samples = evidence.wrong;
  if (samples.size() < 8 || !evidence.errors_tell()) return std::nullopt;
  if (explained_share(evidence, samples, [](const Sample& s) { return -s.reference; }) >= kNearlyAll)
    return everywhere_as(evidence, "sign_flipped", "every value has the wrong sign.",
                         "The size of each value is right: look for a swapped subtraction or a forgotten minus.");
  const double factor = best_factor(samples), offset = best_offset(samples);
  const bool scaled = std::isfinite(factor) && factor != 0 &&
                      explained_share(evidence, samples, [&](const Sample& s) { return factor * s.reference; }) >= kNearlyAll;
  const bool moved = std::isfinite(offset) &&
                     explained_share(evidence, samples, [&](const Sample& s) { return s.reference + offset; }) >= kNearlyAll;
  if (scaled && (!moved || mean_left(samples, factor, 0) <= mean_left(samples, 1, offset))) {
    auto diagnosis =
        everywhere_as(evidence, "constant_factor", fmt::format("every value is {} times what it should be.", number_text(factor)),
                      "A scale is missing, applied twice, or taken from the wrong extent (mean instead of sum, 1/sqrt(d), alpha).");
    if (auto text = factor_text(evidence, factor); !text.empty()) diagnosis.evidence.push_back(text);
    return diagnosis;
  }
  if (moved)
    return everywhere_as(
        evidence, "constant_offset", fmt::format("every value is off by {}.", number_text(offset)),
        "Look for a bias or an epsilon that is missing or added twice, and for an accumulator that does not start at zero.");
  return std::nullopt;
}

std::optional<Diagnosis> find_scale(const Evidence& evidence) {
  auto found = scale_of_wrong(evidence);
  if (!found) return std::nullopt;
  const bool moved = found->pattern == "constant_offset";
  const double factor = moved ? 1 : best_factor(evidence.wrong), offset = moved ? best_offset(evidence.wrong) : 0;
  // Elements that are right have to agree: zeros stay zeros under a factor, but nothing stays under an offset.
  const auto predict = [&](const Sample& s) { return factor * s.reference + offset; };
  if (explained_share(evidence, evidence.everywhere, predict) < kNearlyAll) return std::nullopt;
  return found;
}

std::optional<Diagnosis> find_rearranged(const Evidence& evidence) {
  const auto& samples = evidence.wrong;
  if (samples.size() < 8 || !evidence.errors_tell()) return std::nullopt;
  const auto reference = [&](std::int64_t element) { return evidence.at(element).reference; };
  const auto explains_all = [&](const auto& prediction) {
    return explained_share(evidence, samples, prediction) >= kNearlyAll &&
           explained_share(evidence, evidence.everywhere, prediction) >= kNearlyAll;
  };

  std::vector<std::size_t> wide;  // dimensions that matter for an order
  for (std::size_t d = 0; d < evidence.rank(); ++d)
    if (evidence.shape[d] > 1) wide.push_back(d);
  std::vector<std::size_t> order(wide.size());
  std::iota(order.begin(), order.end(), 0);
  for (int tried = 0; tried < 120 && std::next_permutation(order.begin(), order.end()); ++tried) {
    // The output's memory read as if its dimensions had been stored in this order.
    const auto prediction = [&](const Sample& s) {
      std::int64_t rest = s.index, element = 0;
      for (std::size_t i = order.size(); i-- > 0;) {
        const auto d = wide[order[i]];
        element += rest % evidence.shape[d] * evidence.strides[d];
        rest /= evidence.shape[d];
      }
      return reference(element);
    };
    if (!explains_all(prediction)) continue;
    bool last_two = order.size() >= 2 && order.back() + 2 == order.size();
    for (std::size_t i = 0; i + 2 < order.size(); ++i) last_two = last_two && order[i] == i;
    std::string text;
    for (const auto i : order) text += (text.empty() ? "" : ", ") + std::to_string(evidence.number_of(wide[i]));
    last_two = last_two && evidence.number_of(wide.back()) > evidence.number_of(wide[wide.size() - 2]);
    auto diagnosis = everywhere_as(
        evidence, last_two ? "transposed" : "permuted",
        last_two ? "The output is the reference with its last two dimensions swapped."
                 : "The output is the reference with its dimensions in another order.",
        "The values are right, their places are not: look at the index of the final store and at the strides it assumes.");
    diagnosis.evidence.push_back("stored with the dimensions in the order " + text);
    return diagnosis;
  }

  for (const auto d : wide) {
    for (const std::int64_t shift : {1, -1, 2, -2, 4, -4, 8, -8}) {
      const auto prediction = [&](const Sample& s) {
        const auto from = evidence.index_along(s.index, d) + shift;
        return from < 0 || from >= evidence.shape[d] ? std::nan("") : reference(s.index + shift * evidence.strides[d]);
      };
      if (!explains_all(prediction)) continue;
      return everywhere_as(evidence, "shifted",
                           fmt::format("Each value is the one that belongs {} {} along dimension {}.", std::abs(shift),
                                       shift > 0 ? "further" : "before", evidence.number_of(d)),
                           "Off by one: look at the start of the loop, at padding, and at the pointer's first offset.");
    }
  }
  return std::nullopt;
}

namespace {

using Groups = std::vector<std::vector<Sample>>;

// Rows along the last dimension: some of those with wrong elements, a few elements of each.
Groups some_rows(const Evidence& evidence) {
  Groups groups;
  const auto columns = evidence.shape.back();
  const auto step = std::max<std::size_t>(1, evidence.wrong.size() / 48);
  std::int64_t last = -1;
  for (std::size_t i = 0; i < evidence.wrong.size(); i += step) {
    const auto row = evidence.wrong[i].index / columns;
    if (row == last) continue;
    last = row;
    auto& group = groups.emplace_back();
    const auto count = std::min<std::int64_t>(columns, 48);
    for (std::int64_t c = 0; c < count; ++c) group.push_back(evidence.at(row * columns + columns * c / count));
  }
  return groups;
}

// Groups of elements that share an index along the dimension.
Groups some_channels(const Evidence& evidence, std::size_t dimension) {
  Groups groups;
  const auto extent = evidence.shape[dimension], stride = evidence.strides[dimension];
  const auto others = evidence.elements / extent;
  const auto channels = std::min<std::int64_t>(extent, 48), count = std::min<std::int64_t>(others, 48);
  for (std::int64_t c = 0; c < channels; ++c) {
    auto& group = groups.emplace_back();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto other = others * i / count;
      group.push_back(evidence.at(other / stride * stride * extent + extent * c / channels * stride + other % stride));
    }
  }
  return groups;
}

struct GroupFit {
  double low = 0, high = 0;
};

// Whether each group has its own factor (or offset), and how far apart these are.
template <typename Fit, typename Apply>
std::optional<GroupFit> fit_groups(const Evidence& evidence, const Groups& groups, Fit&& fit, Apply&& apply) {
  std::vector<double> found;
  std::size_t off = 0, all = 0;
  for (const auto& group : groups) {
    if (group.size() < 4) return std::nullopt;
    all += group.size();
    for (const auto& s : group)
      if (std::fabs(s.kernel - s.reference) > evidence.slack(s.reference)) ++off;
    const double value = fit(group);
    if (!std::isfinite(value)) return std::nullopt;
    if (explained_share(evidence, group, [&](const Sample& s) { return apply(value, s.reference); }) < 0.95) return std::nullopt;
    found.push_back(value);
  }
  if (found.size() < 2 || off * 4 < all) return std::nullopt;  // groups that are right fit by themselves
  const auto [low, high] = std::minmax_element(found.begin(), found.end());
  return GroupFit{*low, *high};
}

std::optional<Diagnosis> scaled_groups(const Evidence& evidence, const Groups& groups, const std::string& kind,
                                       const std::string& each) {
  const auto times = [](double factor, double r) { return factor * r; };
  const auto plus = [](double offset, double r) { return offset + r; };
  const bool rows = kind == "row";
  if (const auto fit = fit_groups(evidence, groups, best_factor, times)) {
    auto diagnosis = everywhere_as(
        evidence, kind + "_factor", fmt::format("{} is off by a factor of its own.", each),
        rows ? "A normalisation is missing or wrong: the division by a row's sum, norm or deviation, or another row's was used."
             : "A scale that belongs to this dimension is missing, applied twice, or read at the wrong index.");
    diagnosis.evidence.push_back(fmt::format("factors from {} to {}", number_text(fit->low), number_text(fit->high)));
    return diagnosis;
  }
  if (const auto fit = fit_groups(evidence, groups, best_offset, plus)) {
    auto diagnosis =
        everywhere_as(evidence, kind + "_offset", fmt::format("{} is off by an offset of its own.", each),
                      rows ? "A term that belongs to a whole row is missing or wrong: its mean, its maximum, or the log of its sum."
                           : "A bias that belongs to this dimension is missing, added twice, or read at the wrong index.");
    diagnosis.evidence.push_back(fmt::format("offsets from {} to {}", number_text(fit->low), number_text(fit->high)));
    return diagnosis;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> find_group_scale(const Evidence& evidence) {
  if (evidence.wrong.size() < 8 || !evidence.errors_tell()) return std::nullopt;
  for (std::size_t d = evidence.rank(); d-- > 0;) {
    if (evidence.shape[d] < 2) continue;
    const auto each = fmt::format("Each index of dimension {}", evidence.number_of(d));
    if (auto found = scaled_groups(evidence, some_channels(evidence, d), "channel", each)) {
      // With two dimensions, an index of the first is a row.
      if (evidence.rank() == 2 && d == 0) break;
      return found;
    }
  }
  return scaled_groups(evidence, some_rows(evidence), "row", "Each row");
}

}  // namespace kw
