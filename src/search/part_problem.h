// A sub-problem as a problem of its own: a file in KernelBench's form, so that all that is done with a problem can be done with it,
// by hand too. Its weights and inputs are drawn, not taken from the module it was cut from: the whole is verified with those.
#pragma once

#include <string>

#include "base/files.h"
#include "playbook/split.h"

namespace kw {

std::string part_problem_text(const Part& part);
// Written to parts/HASH.py below the data folder, unless it is there.
Result<fs::path> write_part_problem(const Part& part);

}  // namespace kw
