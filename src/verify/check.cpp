#include "verify/check.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "verify/compare.h"
#include "verify/pattern.h"

namespace kw {
Result<CheckOutcome> check_outputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int out_slot,
                                   const std::string& precision) {
  CheckOutcome checked;
  checked.result.distribution = set.distribution;
  checked.result.seed = set.seed;
  std::string fingerprints;
  const std::size_t first = problem.inputs.size() + problem.parameters.size();
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const auto& spec = problem.outputs[i];
    bool canary_broken = false;
    KW_TRY(const std::vector<std::byte> bytes, session.output(first + i, out_slot, canary_broken));
    fingerprints += sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    KW_TRY(const NamedTensor reference, set.reference.at(spec.name));
    KW_TRY(const NamedTensor eager, set.eager.at(spec.name));
    if (reference.numel() != spec.numel() || eager.numel() != spec.numel())
      return internal_error(fmt::format("{}: '{}' has another size than the problem's output", set.folder.string(), spec.name),
                            "remove that folder: it is only a cache");
    KW_TRY(const CompareInput input,
           compare_input(spec, bytes.data(), reference.bytes.data(), reference.dtype, eager.bytes.data(), eager.dtype, precision));
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
  checked.fingerprint = sha256(fingerprints);
  return checked;
}

}  // namespace kw
