// Patterns of where the wrong elements are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "verify/elements.h"
#include "verify/pattern_evidence.h"

namespace kw {
namespace {

constexpr double kMostly = 0.35;  // a share of wrong elements that makes a row, a column or a box wrong as a whole

std::string dimension_name(const Evidence& evidence, std::size_t dimension) {
  const std::size_t number = evidence.number_of(dimension);
  if (number + 1 == evidence.rank()) return "columns";
  if (number + 2 == evidence.rank()) return "rows";
  return fmt::format("indices of dimension {}", number);
}

// What the wrong elements hold, where that is one thing: it says more than their place alone.
std::string content_text(const Evidence& evidence) {
  const auto all = [&](auto&& holds) { return std::all_of(evidence.wrong.begin(), evidence.wrong.end(), holds); };
  if (all([](const Sample& s) { return s.kernel == 0; })) return "every wrong element is 0";
  if (all([](const Sample& s) { return std::isnan(s.kernel); })) return "every wrong element is NaN";
  if (auto scale = scale_of_wrong(evidence)) return "in the wrong elements, " + scale->summary;
  return {};
}

Diagnosis at_place(const Evidence& evidence, std::string pattern, std::string summary, std::string hint) {
  Diagnosis diagnosis{"compare",       std::move(summary), evidence.place(), {evidence.share_text()},
                      std::move(hint), std::move(pattern)};
  if (auto content = content_text(evidence); !content.empty()) diagnosis.evidence.push_back(content);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, evidence.wrong.size()); ++i)
    diagnosis.evidence.push_back(evidence.example(evidence.wrong[i]));
  return diagnosis;
}

// The width w of a vector or tile for which `count` is what is left over: n % w. 0 when there is none.
std::int64_t width_that_leaves(std::int64_t extent, std::int64_t count) {
  for (const std::int64_t width : {8, 16, 32, 64, 4, 128, 256, 12, 6, 24, 48, 96})
    if (extent > width && extent % width == count) return width;
  return 0;
}

std::optional<Diagnosis> tail_or_split(const Evidence& evidence) {
  const auto tails = wrong_tails(evidence);
  if (!tails) return std::nullopt;
  std::string parts, widths;
  bool short_tails = true;
  std::size_t dimensions = 0, along = 0;
  for (std::size_t d = 0; d < evidence.rank(); ++d) {
    const auto extent = evidence.shape[d];
    const auto count = extent - (*tails)[d];
    if (count == 0) continue;
    ++dimensions;
    along = d;
    const auto width = width_that_leaves(extent, count);
    parts += fmt::format("{}the last {} {} of {}", parts.empty() ? "" : " and ", count, dimension_name(evidence, d), extent);
    if (width > 0) widths += fmt::format("{}{} % {} = {}", widths.empty() ? "" : ", ", extent, width, count);
    short_tails = short_tails && (width > 0 || count <= std::max<std::int64_t>(8, extent / 16));
  }
  if (short_tails) {
    auto diagnosis =
        at_place(evidence, "tail", "Only " + parts + " are wrong.",
                 "Look at the loop's last iterations: the remainder after whole vectors or tiles needs its own loop or a mask.");
    if (!widths.empty()) diagnosis.evidence.push_back(widths);
    return diagnosis;
  }
  if (dimensions != 1) return std::nullopt;
  const auto start = (*tails)[along], extent = evidence.shape[along];
  auto diagnosis = at_place(
      evidence, "split",
      fmt::format("The first {} {} of {} are right, all from there on are wrong.", start, dimension_name(evidence, along), extent),
      "Look at how the work is divided: the part of a later thread or block starts, ends or is offset wrongly, or shares a buffer "
      "with another.");
  diagnosis.evidence.push_back(
      fmt::format("the boundary is at {:.3g} of the extent", static_cast<double>(start) / static_cast<double>(extent)));
  return diagnosis;
}

std::optional<Diagnosis> one_box(const Evidence& evidence) {
  double volume = 1;
  for (const auto& bounds : evidence.box) volume *= static_cast<double>(bounds.last - bounds.first + 1);
  const bool proper = volume <= 0.9 * static_cast<double>(evidence.elements);
  if (!proper || static_cast<double>(evidence.wrong_count) < kMostly * volume) return std::nullopt;
  return at_place(evidence, "region", "Every wrong element is in " + evidence.place() + ".",
                  "Look at what computes this block alone: its index arithmetic, its edge handling, or the thread that owns it.");
}

std::optional<Diagnosis> some_indices(const Evidence& evidence, std::size_t dimension) {
  if (evidence.elements / evidence.shape[dimension] < 8) return std::nullopt;  // too few to call a whole index wrong
  std::vector<std::int64_t> bad;
  for (std::int64_t i = 0; i < evidence.shape[dimension]; ++i) {
    const double density = evidence.density(dimension, i);
    if (density > 0 && density < kMostly) return std::nullopt;
    if (density > 0) bad.push_back(i);
  }
  if (bad.empty() || static_cast<std::int64_t>(bad.size()) == evidence.shape[dimension]) return std::nullopt;
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, bad.size()); ++i) list += (i > 0 ? ", " : "") + std::to_string(bad[i]);
  if (bad.size() > 8) list += ", ...";
  const auto name = dimension_name(evidence, dimension);
  auto diagnosis = at_place(
      evidence, "region", fmt::format("{} of {} {} are wrong, the others are right.", bad.size(), evidence.shape[dimension], name),
      "Look at what these have in common: who computes them, and which inputs only they read.");
  diagnosis.evidence.push_back(name + " " + list);
  return diagnosis;
}

// The numbers modulo the period that are wrong (nearly always) along the first `extent` indices, when all others are right.
std::vector<std::int64_t> wrong_of_period(const Evidence& evidence, std::size_t dimension, std::int64_t period,
                                          std::int64_t extent) {
  std::vector<std::int64_t> wrong;
  for (std::int64_t number = 0; number < period; ++number) {
    std::int64_t touched = 0, bad = 0, count = 0;
    for (auto i = number; i < extent; i += period, ++count) {
      const double density = evidence.density(dimension, i);
      if (density > 0) ++touched;
      if (density >= kMostly) ++bad;
    }
    if (touched == 0) continue;
    if (bad * 5 < count * 4) return {};
    wrong.push_back(number);
  }
  return static_cast<std::int64_t>(wrong.size()) < period ? wrong : std::vector<std::int64_t>{};
}

std::optional<Diagnosis> periodic(const Evidence& evidence, std::size_t dimension) {
  const auto extent = evidence.shape[dimension];
  for (std::int64_t period = 2; period <= 256 && period * 2 <= extent; ++period) {
    // A long dimension is looked at in full only where its beginning has this period.
    auto numbers = wrong_of_period(evidence, dimension, period, std::min<std::int64_t>(extent, 4096));
    if (!numbers.empty() && extent > 4096) numbers = wrong_of_period(evidence, dimension, period, extent);
    if (numbers.empty()) continue;
    const std::string which = numbers.size() == 1
                                  ? fmt::format("number {} is", numbers.front())
                                  : fmt::format("{} between number {} and {} are", numbers.size(), numbers.front(), numbers.back());
    return at_place(
        evidence, "periodic", fmt::format("Of every {} {}, {} wrong.", period, dimension_name(evidence, dimension), which),
        "A period is a vector's width, an unrolled loop's step or a tile: look at the lane, copy or tile that writes these.");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::int64_t>> wrong_tails(const Evidence& evidence) {
  std::vector<std::int64_t> starts;
  bool any = false;
  for (std::size_t d = 0; d < evidence.rank(); ++d) {
    auto start = evidence.shape[d];
    while (start > 0 && evidence.density(d, start - 1) >= kMostly) --start;
    if (start == 0) start = evidence.shape[d];  // wrong all along: that is no tail
    any = any || start < evidence.shape[d];
    starts.push_back(start);
  }
  const auto in_a_tail = [&](const Sample& sample) {
    for (std::size_t d = 0; d < evidence.rank(); ++d)
      if (evidence.index_along(sample.index, d) >= starts[d]) return true;
    return false;
  };
  if (!any || !std::all_of(evidence.wrong.begin(), evidence.wrong.end(), in_a_tail)) return std::nullopt;
  return starts;
}

std::optional<Diagnosis> find_unwritten(const Evidence& evidence) {
  const auto& input = evidence.input;
  const auto unwritten = std::count_if(evidence.wrong.begin(), evidence.wrong.end(),
                                       [&](const Sample& s) { return is_poison(input.kernel, input.dtype, s.index); });
  if (unwritten == 0 || static_cast<double>(unwritten) < 0.9 * static_cast<double>(evidence.wrong.size())) return std::nullopt;
  Diagnosis diagnosis{"compare", "", evidence.place(), {evidence.share_text()}, "", ""};
  diagnosis.evidence.push_back(
      fmt::format("{} of {} wrong elements looked at still hold what the output was filled with before the call", unwritten,
                  evidence.wrong.size()));
  if (evidence.wrong_share() > 0.999) {
    diagnosis.pattern = "uninitialised";
    diagnosis.summary = "The kernel never wrote to this output.";
    diagnosis.hint =
        "Check the order of the arguments and that the loops run at all; or the output is read before it is written (out += ...).";
  } else if (const auto tails = wrong_tails(evidence)) {
    diagnosis.pattern = "uninitialised_tail";
    diagnosis.summary = "The end of the output was never written.";
    diagnosis.hint = "The loop stops early: handle the remainder after whole vectors, tiles or threads' shares.";
  } else {
    diagnosis.pattern = "uninitialised_part";
    diagnosis.summary = "Part of the output was never written.";
    diagnosis.hint = "Look at which tiles, rows or lanes are skipped by the loop bounds or by a condition.";
  }
  return diagnosis;
}

std::optional<Diagnosis> find_place(const Evidence& evidence) {
  if (auto found = tail_or_split(evidence)) return found;
  for (std::size_t d = evidence.rank(); d-- > 0;)
    if (auto found = periodic(evidence, d)) return found;
  if (auto found = one_box(evidence)) return found;
  for (std::size_t d = evidence.rank(); d-- > 0;)
    if (auto found = some_indices(evidence, d)) return found;
  return std::nullopt;
}

std::optional<Diagnosis> find_scattered(const Evidence& evidence) {
  if (evidence.wrong_share() > 0.05) return std::nullopt;
  auto diagnosis =
      at_place(evidence, "scattered", "A few elements here and there are wrong, the rest are right.",
               "This is what a data race gives: two threads that write or add to the same element, or a shared scratch buffer. "
               "Or it is a rare value: a branch for zeros, ties, negative or very large numbers.");
  return diagnosis;
}

std::optional<Diagnosis> find_repeated(const Evidence& evidence) {
  if (!evidence.input.ties) return std::nullopt;
  const auto repeated = evidence.input.ties->repeated(evidence.input.kernel, evidence.input.dtype);
  if (repeated.empty()) return std::nullopt;
  return Diagnosis{
      "compare",
      "the same position is given twice, where each may be given once",
      evidence.place_of(repeated.front()),
      {fmt::format("{} of {} elements repeat a position that came before them", repeated.size(), evidence.elements)},
      "Among equal values any order is right, but an element that was taken is gone: mark it, or compare positions where "
      "values are equal.",
      "repeated_position"};
}

}  // namespace kw
