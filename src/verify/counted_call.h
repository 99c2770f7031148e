// Whether the call that an estimate is made from did its work: what it wrote is compared with the reference, as in any other call.
#pragma once

#include "dsl/candidate.h"
#include "verify/check.h"
#include "verify/gpu_findings.h"

namespace kw {

// What the blocks of a sample wrote is final where they are all of the work and nothing but stores.
Result<bool> sample_is_final(const GpuSample& sample, const GpuBuild& build);
// Blocks of a sample write about their share of the outputs; far less than that tells too little.
bool sample_tells(const GpuSample& sample, double written_share);
double written_share_of(const CheckOutcome& checked);

struct CountedCall {
  std::optional<RunFailure> failure;
  bool compared = true;  // false: a sample whose outputs tell nothing
};

// Of the call that a session has just made.
Result<CountedCall> check_counted_call(Session& session, const Candidate& candidate, const ProblemDescription& problem,
                                       const TensorSet& set, const GpuReport& report, const std::string& precision,
                                       const NearbyNoise& nearby);

}  // namespace kw
