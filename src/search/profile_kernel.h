// A passed kernel's profile: what its code shows, one thread against all, cold against warm, counters where there are any.
#pragma once

#include "profile/findings.h"
#include "search/evaluator.h"

namespace kw {

// What is known without running anything more.
ProfileInputs profile_inputs(const Machine& machine, const ProblemDescription& problem, const TimingRecord& timing);

// Runs the kernel a few times more, in the sandbox as ever.
Result<ProfileRecord> profile_kernel(Evaluator& evaluator, const ProblemSource& problem, Candidate& candidate,
                                     const TimingSets& sets, const TimingRecord& timing);

}  // namespace kw
