// Says what a wrong output looks like: where the wrong elements are, what they are beside the right ones, and what in the
// code gives such an output. It never decides whether an output is right.
#pragma once

#include "record/verdict.h"
#include "verify/compare.h"

namespace kw {

// The diagnosis of an output that is not right: stage "compare", with the most specific pattern that explains it. The
// patterns:
//   uninitialised, uninitialised_tail, uninitialised_part   never written
//   repeated_position                                       one position given twice where each has to be given once
//   zeros, constant                                         one value everywhere
//   nan, infinite, missing_nonfinite                        not finite where it should be, or the other way round
//   tail, split, region, periodic                           wrong elements in one place along the dimensions
//   sign_flipped, constant_factor, constant_offset          the whole output off in one way
//   transposed, permuted, shifted                           right values in wrong places
//   row_factor, row_offset                                  each row off in its own way
//   channel_factor, channel_offset                          each index of one dimension off in its own way
//   scattered                                               a few elements anywhere
//   low_precision, accumulation                             the right formula, too coarse
//   unexplained                                             none of these
Diagnosis diagnose_output(const CompareInput& input, const CompareOutcome& outcome);

// `wrong` or `imprecise`: small errors count as imprecise only while no pattern shows a mistake in the code.
Verdict verdict_of(const CompareOutcome& outcome, const Diagnosis& diagnosis);

}  // namespace kw
