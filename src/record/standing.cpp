#include "record/standing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

bool is_pytorch(const Comparison& comparison) { return comparison.baseline == "eager" || comparison.baseline == "compile"; }

const std::vector<Comparison>& comparisons_of(const std::optional<TimingRecord>& timing) {
  static const std::vector<Comparison> none;
  return timing ? timing->comparisons : none;
}

}  // namespace

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::faster:
      return "faster";
    case Standing::slower:
      return "slower";
    case Standing::unclear:
      return "unclear";
    case Standing::unknown:
      break;
  }
  return "unknown";
}

std::string_view headline_of(Standing standing) {
  switch (standing) {
    case Standing::faster:
      return "faster than PyTorch here";
    case Standing::slower:
      return "PyTorch is faster here";
    case Standing::unclear:
      return "no clear difference from PyTorch here";
    case Standing::unknown:
      break;
  }
  return "not confirmed";
}

Standing standing_of(const std::vector<Comparison>& comparisons) {
  Standing standing = Standing::unknown;
  for (const Comparison& each : comparisons) {
    if (!is_pytorch(each)) continue;
    if (each.interval.high < 1) return Standing::slower;
    if (!each.is_win())
      standing = Standing::unclear;
    else if (standing == Standing::unknown)
      standing = Standing::faster;
  }
  return standing;
}

Standing standing_of(const std::optional<TimingRecord>& timing) { return standing_of(comparisons_of(timing)); }

std::string standing_words(const std::vector<Comparison>& comparisons) {
  std::string words(headline_of(standing_of(comparisons)));
  std::vector<std::string> figures;
  for (const Comparison& each : comparisons)
    if (is_pytorch(each))
      figures.push_back(fmt::format("{:.2f}x the speed of {} ({:.2f} to {:.2f})", each.speedup,
                                    each.baseline == "compile" ? "torch.compile" : "eager", each.interval.low, each.interval.high));
  return figures.empty() ? words : fmt::format("{}: the kernel has {}", words, fmt::join(figures, " and "));
}

std::string standing_words(const std::optional<TimingRecord>& timing) { return standing_words(comparisons_of(timing)); }

Json standing_json(const std::vector<Comparison>& comparisons) {
  return {{"standing", name_of(standing_of(comparisons))}, {"words", standing_words(comparisons)}};
}

Json standing_json(const std::optional<TimingRecord>& timing) { return standing_json(comparisons_of(timing)); }

const Comparison* comparison_with(const std::optional<TimingRecord>& timing, std::string_view baseline) {
  for (const Comparison& each : comparisons_of(timing))
    if (each.baseline == baseline) return &each;
  return nullptr;
}

}  // namespace kw
