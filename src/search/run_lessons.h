// What later runs on similar problems may learn from a run.
#pragma once

#include "record/run.h"

namespace kw {

// From the winner and the first kernel that passed; none without a winner, or where it should have been confirmed and was not.
std::vector<Lesson> lessons_of(const RunRecord& run, const std::vector<Individual>& individuals, const Features& features);

}  // namespace kw
