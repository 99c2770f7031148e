// The verdict on a kernel in CUDA: run on the virtual GPU with all checks on, compared as any other kernel. It is slow there, so
// that large problems are checked on fewer kinds of inputs, and very large ones at reduced shapes and on a sample of blocks at full
// ones; the record says on what.
#pragma once

#include "verify/verify.h"

namespace kw {

Result<Verification> verify_on_gpu(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store,
                                   OracleClient& oracle, const VerifyOptions& options);

}  // namespace kw
