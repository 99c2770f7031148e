// The loops of one function: natural loops of its control flow, found by dominators. Jumps through tables end a path.
#pragma once

#include <vector>

#include "profile/disassembly.h"

namespace kw {

struct FlowLoop {
  std::vector<std::size_t> instructions;  // indices into the function, ascending
  int parent = -1;                        // index of the loop around it
  int depth = 1;                          // 1: in no other loop
  bool innermost = true;
};

std::vector<FlowLoop> natural_loops(const Function& function, std::string_view isa);

}  // namespace kw
