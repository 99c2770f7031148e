#include "verify/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "verify/pattern_evidence.h"

namespace kw {
namespace {

// In order, the most specific first. An account of every element, right ones too, comes before the place of the wrong ones:
// a shift leaves an edge right, and a factor leaves zeros. Errors that are small everywhere are asked for their values before their
// places: where low precision shows depends on the data.
constexpr std::array<PatternFinder, 10> kForWrong{find_unwritten,  find_repeated, find_one_value,   find_nonfinite, find_scale,
                                                  find_rearranged, find_place,    find_group_scale, find_scattered, find_rounded};
constexpr std::array<PatternFinder, 6> kForImprecise{find_unwritten,  find_one_value,   find_scale,
                                                     find_rearranged, find_group_scale, find_coarse};

// The patterns that a lower precision may show; any other is a mistake in the code, however small its errors.
constexpr std::array<std::string_view, 3> kOfPrecision{"low_precision", "accumulation", "unexplained"};

Diagnosis unexplained(const Evidence& evidence) {
  Diagnosis diagnosis{"compare",
                      "The output differs from the reference in no pattern that is known.",
                      evidence.place(),
                      {evidence.share_text()},
                      "Check the formula step by step on a small shape; then the order and the strides of the inputs.",
                      "unexplained"};
  for (std::size_t i = 0; i < evidence.wrong.size() && i < 3; ++i)
    diagnosis.evidence.push_back(evidence.example(evidence.wrong[i * (evidence.wrong.size() / 3)]));
  return diagnosis;
}

}  // namespace

Diagnosis diagnose_output(const CompareInput& input, const CompareOutcome& outcome) {
  if (outcome.error.wrong_elements == 0) return {};
  const Evidence evidence(input, outcome);
  const auto first_of = [&](const auto& finders) {
    for (const auto find : finders) {
      if (auto found = find(evidence)) {
        found->summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(found->summary.front())));
        return *found;
      }
    }
    return unexplained(evidence);
  };
  return outcome.looks_imprecise ? first_of(kForImprecise) : first_of(kForWrong);
}

Verdict verdict_of(const CompareOutcome& outcome, const Diagnosis& diagnosis) {
  if (outcome.right) return Verdict::passed;
  const bool precision = std::find(kOfPrecision.begin(), kOfPrecision.end(), diagnosis.pattern) != kOfPrecision.end();
  return outcome.looks_imprecise && precision ? Verdict::imprecise : Verdict::wrong;
}

}  // namespace kw
