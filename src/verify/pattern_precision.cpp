// Patterns of the right formula at too low a precision.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "verify/pattern_evidence.h"

namespace kw {
namespace {

// The share of the values whose last `bits` bits of mantissa are zero, as float32.
template <typename Value>
double share_rounded(const std::vector<Sample>& samples, unsigned bits, Value&& value_of) {
  std::size_t asked = 0, rounded = 0;
  for (const auto& sample : samples) {
    const auto value = static_cast<float>(value_of(sample));
    if (value == 0 || !std::isfinite(value)) continue;
    ++asked;
    if ((std::bit_cast<std::uint32_t>(value) & ((1U << bits) - 1)) == 0) ++rounded;
  }
  return asked < 16 ? 0 : static_cast<double>(rounded) / static_cast<double>(asked);
}

Diagnosis coarse(const Evidence& evidence, std::string pattern, std::string summary, std::string hint) {
  const auto& error = evidence.outcome.error;
  Diagnosis diagnosis{"compare",       std::move(summary), evidence.place(), {evidence.share_text()},
                      std::move(hint), std::move(pattern)};
  diagnosis.evidence.push_back(fmt::format("relative rms error {:.2g} (2^{:.1f}), eager's own {:.2g}", error.rms_error,
                                           std::log2(std::max(error.rms_error, 1e-300)), error.rms_error_eager));
  diagnosis.evidence.push_back(
      fmt::format("the worst element is {:.3g} times its tolerance from the reference", error.worst_of_tolerance));
  return diagnosis;
}

// How much of the error pulls towards zero (-1), away from it (1), or neither way (0).
double pull(const std::vector<Sample>& samples) {
  double towards = 0, all = 0;
  for (const auto& s : samples) {
    const double error = s.kernel - s.reference;
    if (!std::isfinite(error)) continue;
    towards += std::copysign(1.0, s.reference) * error;
    all += std::fabs(error);
  }
  return all > 0 ? towards / all : 0;
}

// The mean error of the largest quarter of the elements over that of the smallest.
double growth(std::vector<Sample> samples) {
  std::erase_if(samples, [](const Sample& s) { return !std::isfinite(s.kernel) || !std::isfinite(s.reference); });
  const auto quarter = samples.size() / 4;
  if (quarter == 0) return 1;
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return std::fabs(a.reference) < std::fabs(b.reference); });
  const auto error = [&](std::size_t begin) {
    double total = 0;
    for (auto i = begin; i < begin + quarter; ++i) total += std::fabs(samples[i].kernel - samples[i].reference);
    return total;
  };
  return error(samples.size() - quarter) / std::max(error(0), 1e-300);
}

constexpr const char* kKeepFloat =
    "Keep inputs, products and sums in the output's precision, or state the lower one with --precision.";

}  // namespace

std::optional<Diagnosis> find_rounded(const Evidence& evidence) {
  if (evidence.input.dtype != DType::f32) return std::nullopt;
  struct Format {
    unsigned bits;
    const char* name;
  };
  for (const auto& format : {Format{16, "bf16"}, Format{13, "fp16 or tf32"}}) {
    const auto& samples = evidence.everywhere;
    const double kernel = share_rounded(samples, format.bits, [](const Sample& s) { return s.kernel; });
    const double reference = share_rounded(samples, format.bits, [](const Sample& s) { return s.reference; });
    if (kernel < 0.98 || reference > 0.5) continue;
    auto diagnosis = coarse(evidence, "low_precision", fmt::format("The output is rounded to {}.", format.name), kKeepFloat);
    diagnosis.evidence.push_back(fmt::format("the last {} bits of {:.3g}% of the values are zero", format.bits, 100 * kernel));
    return diagnosis;
  }
  return std::nullopt;
}

std::optional<Diagnosis> find_coarse(const Evidence& evidence) {
  if (auto found = find_rounded(evidence)) return found;
  const double level = evidence.outcome.error.rms_error;
  const double towards = pull(evidence.everywhere);
  const double grows = growth(evidence.everywhere);
  const auto with_shape = [&](Diagnosis diagnosis) {
    diagnosis.evidence.push_back(
        fmt::format("errors of the largest quarter of the elements are {:.3g} times those of the smallest", grows));
    if (std::fabs(towards) > 0.6)
      diagnosis.evidence.push_back(
          fmt::format("{:.0f}% of the error pulls {} zero", 100 * std::fabs(towards), towards < 0 ? "towards" : "away from"));
    return diagnosis;
  };
  // Rounded inputs err either way; a sum that outgrows its terms loses them on one side.
  const bool stalls = std::fabs(towards) > 0.6;
  if (stalls || level < 0x1p-16)
    return with_shape(coarse(evidence, "accumulation", "The formula is right but its sums lose too much.",
                             "One long running sum drops what is small beside it: keep several partial sums (one a vector lane or "
                             "a block) and add these, "
                             "or carry the sum in a wider type; compute a variance from differences to the mean."));
  const char* name = level >= 0x1p-10 ? "bf16" : "fp16 or tf32";
  return with_shape(coarse(evidence, "low_precision",
                           fmt::format("The formula is right but was computed at about the precision of {}.", name), kKeepFloat));
}

}  // namespace kw
