// Pairs of reductions of a row in one pass over it.
#pragma once

#include "playbook/stage.h"

namespace kw {

// Where a stage takes the maximum of a row and the sum of exponentials of what lies below it: both in one pass, provided for what
// follows in the innermost scope, which is the row's. False: there is no such pair, or it has no vector form, and nothing was
// written.
bool write_online_softmax(StageWriter& writer, const Stage& stage, const Index& row);

}  // namespace kw
