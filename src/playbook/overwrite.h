// Which values a stage may write its result over: those that nothing reads afterwards, and that it reads before it writes there.
#pragma once

#include "playbook/plan.h"

namespace kw {

// Whether the stage may fill `root` in the memory of `read`: both have as many elements of one type, every element is read at its
// own place, or in reductions over its own row, which come before anything of the row is written.
bool may_write_over(const Plan& plan, const Graph& graph, const Stage& stage, ValueId root, ValueId read);

}  // namespace kw
