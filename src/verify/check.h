// One call of the kernel on one set of tensors, and its outputs compared with the references.
#pragma once

#include "dsl/session_tensors.h"
#include "record/verdict.h"

namespace kw {

struct CheckOutcome {
  CheckResult result;
  Verdict verdict = Verdict::passed;
  Diagnosis diagnosis;
  std::uint64_t fingerprint = 0;  // of the outputs' bytes
};

// Reads the outputs that stand in an out slot and compares them with the set's reference.
Result<CheckOutcome> check_outputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int out_slot,
                                   const std::string& precision);

}  // namespace kw
