// Memory between stages: two values may share where one is no longer read when the other is written.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "playbook/plan.h"

namespace kw {

struct ScratchSlot {
  std::string name;
  DType dtype = DType::f32;
  std::int64_t count = 0;  // at least 1
  std::size_t busy_until = 0;
};

// Gives every buffer of the plan that is no output a slot, and its name. `write_over`: a stage's result may take the place of what
// it reads for the last time, and what becomes an output is in the output's memory from the start. `taken`: names of other things.
std::vector<ScratchSlot> place_scratch(Plan& plan, const Graph& graph, bool write_over = false,
                                       const std::set<std::string>& taken = {});

}  // namespace kw
