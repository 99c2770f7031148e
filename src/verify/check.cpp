#include "verify/check.h"

#include <cstring>

#include <fmt/format.h>

#include "base/work_limit.h"
#include "verify/compare.h"
#include "verify/elements.h"
#include "verify/pattern.h"

namespace kw {
namespace {

// Equal values round the same way at each step of a sum, so that an honest float32 sum in another order than eager's is off by
// its length in roundings, not by the root of it. What these inputs are for (constants, ties) shows all the same.
void allow_biased_rounding(ToleranceRule& rule) { rule.rounding_multiple = rule.variation_rounding = 2048; }

// Errors up to here, beside the tolerance, may be eager's luck. What is further off is not looked at again.
constexpr double kWorthHearing = 100;

// The comparison once more, where eager's error on inputs next to these could change it.
CompareOutcome hear_again(CompareInput input, const TensorSpec& spec, const TensorSet& set, const NearbyNoise& nearby,
                          CompareOutcome first) {
  if (first.right || !is_floating(spec.dtype) || !(first.error.worst_of_tolerance < kWorthHearing) || !nearby) return first;
  const auto file = nearby(set);
  if (!file) return first;  // the module cannot be run on others: the verdict stands
  const auto noise = file->at(spec.name);
  if (!noise || noise->dtype != DType::f64 || noise->numel() != spec.numel()) return first;
  input.nearby = reinterpret_cast<const double*>(noise->bytes.data());
  CompareOutcome second = compare_output(input);
  return second.right ? second : first;
}

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

// Elements that nothing wrote become eager's own, which no comparison objects to. How many those are.
std::int64_t take_unwritten_from(const NamedTensor& eager, const TensorSpec& spec, std::vector<std::byte>& bytes) {
  const std::size_t size = size_of(spec.dtype);
  std::int64_t unwritten = 0;
  for (std::int64_t i = 0; i < spec.numel(); ++i) {
    if (!is_poison(bytes.data(), spec.dtype, i)) continue;
    ++unwritten;
    const std::size_t at = static_cast<std::size_t>(i) * size;
    std::memcpy(bytes.data() + at, reinterpret_cast<const std::byte*>(eager.bytes.data()) + at, size);
  }
  return unwritten;
}

// Null: nothing in the set is subnormal, or this output does not depend on it.
Result<const double*> flushing_of(const TensorSet& set, const TensorSpec& spec) {
  if (!set.flushed) return static_cast<const double*>(nullptr);
  const auto far = set.flushed->at(spec.name);
  if (!far) return static_cast<const double*>(nullptr);
  if (far->dtype != DType::f64 || far->numel() != spec.numel())
    return internal_error(fmt::format("{}: '{}' has another type or size than expected", set.flushed->path().string(), spec.name),
                          "remove that folder: it is only a cache");
  return reinterpret_cast<const double*>(far->bytes.data());
}

}  // namespace

NearbyNoise nearby_noise_of(const TensorStore& store, OracleClient& oracle) {
  return [store, &oracle](const TensorSet& set) { return store.nearby_noise(set, oracle); };
}

Result<CheckOutcome> check_outputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int out_slot,
                                   const std::string& precision, const NearbyNoise& nearby, Compared compared) {
  CheckOutcome checked;
  checked.result.distribution = set.distribution;
  checked.result.weights = weights_of(set);
  checked.result.seed = set.seed;
  const std::size_t first = problem.inputs.size() + problem.parameters.size();
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const auto& spec = problem.outputs[i];
    bool canary_broken = false;
    KW_TRY(std::vector<std::byte> bytes, session.output(first + i, out_slot, canary_broken));
    checked.fingerprint = fingerprint_of(bytes, checked.fingerprint);
    KW_TRY(const NamedTensor reference, set.reference.at(spec.name));
    KW_TRY(const NamedTensor eager, set.eager.at(spec.name));
    if (reference.numel() != spec.numel() || eager.numel() != spec.numel())
      return internal_error(fmt::format("{}: '{}' has another size than the problem's output", set.folder.string(), spec.name),
                            "remove that folder: it is only a cache");
    checked.elements += spec.numel();
    if (compared == Compared::written && eager.dtype == spec.dtype) checked.unwritten += take_unwritten_from(eager, spec, bytes);
    KW_TRY(CompareInput input,
           compare_input(spec, bytes.data(), reference.bytes.data(), reference.dtype, eager.bytes.data(), eager.dtype, precision));
    KW_TRY(input.ties, tied_positions(set, spec));
    KW_TRY(input.flushed, flushing_of(set, spec));
    // Where eager's elements stand in for those that nothing wrote, they may well repeat the kernel's.
    if (input.ties && checked.unwritten > 0) input.ties->distinct = false;
    if (set.distribution.rfind("equal", 0) == 0) allow_biased_rounding(input.rule);
    CompareOutcome outcome = compare_output(input);
    if (!outcome.right) {
      outcome = hear_again(input, spec, set, nearby, std::move(outcome));
      checked.heard_again |= outcome.right;
    }
    if (auto end = work_must_end()) return *end;
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
