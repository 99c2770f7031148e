#include "verify/check.h"

#include <cstring>

#include <fmt/format.h>

#include "verify/compare.h"
#include "verify/pattern.h"

namespace kw {
namespace {

// Equal values round the same way at each step of a sum, so that an honest float32 sum in another order than eager's is off by
// its length in roundings, not by the root of it. What these inputs are for (constants, ties) shows all the same.
void allow_biased_rounding(ToleranceRule& rule) { rule.rounding_multiple = rule.variation_rounding = 2048; }

// Tells two outputs of the same kernel apart; nobody gains by forging it, so it only has to be quick.
std::uint64_t fingerprint_of(const std::vector<std::byte>& bytes, std::uint64_t seed) {
  constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = seed ^ bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    mixed = (mixed ^ word) * kPrime;
    mixed ^= mixed >> 29;
  }
  for (; i < bytes.size(); ++i) mixed = (mixed ^ static_cast<std::uint64_t>(bytes[i])) * kPrime;
  return mixed;
}

}  // namespace

Result<CheckOutcome> check_outputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int out_slot,
                                   const std::string& precision) {
  CheckOutcome checked;
  checked.result.distribution = set.distribution;
  checked.result.weights = set.fresh_weights ? "fresh" : "given";
  checked.result.seed = set.seed;
  const std::size_t first = problem.inputs.size() + problem.parameters.size();
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const auto& spec = problem.outputs[i];
    bool canary_broken = false;
    KW_TRY(const std::vector<std::byte> bytes, session.output(first + i, out_slot, canary_broken));
    checked.fingerprint = fingerprint_of(bytes, checked.fingerprint);
    KW_TRY(const NamedTensor reference, set.reference.at(spec.name));
    KW_TRY(const NamedTensor eager, set.eager.at(spec.name));
    if (reference.numel() != spec.numel() || eager.numel() != spec.numel())
      return internal_error(fmt::format("{}: '{}' has another size than the problem's output", set.folder.string(), spec.name),
                            "remove that folder: it is only a cache");
    KW_TRY(CompareInput input,
           compare_input(spec, bytes.data(), reference.bytes.data(), reference.dtype, eager.bytes.data(), eager.dtype, precision));
    if (set.distribution.rfind("equal", 0) == 0) allow_biased_rounding(input.rule);
    const CompareOutcome outcome = compare_output(input);
    checked.result.outputs.push_back(outcome.error);
    if (checked.verdict != Verdict::passed) continue;
    if (canary_broken) {
      checked.verdict = Verdict::crashed;
      checked.diagnosis = {"run",
                           fmt::format("the kernel wrote outside of the output '{}'", spec.name),
                           fmt::format("output '{}', within 64 bytes around it", spec.name),
                           {},
                           "check the loop bounds and the handling of tails",
                           ""};
    } else if (!outcome.right) {
      checked.diagnosis = diagnose_output(input, outcome);
      checked.verdict = verdict_of(outcome, checked.diagnosis);
    }
  }
  checked.result.passed = checked.verdict == Verdict::passed;
  return checked;
}

}  // namespace kw
