// How long an iteration of a loop has to wait for the one before it: chains of arithmetic that go through a register, or through
// memory that is written and read again, from one iteration to the next.
#pragma once

#include <string_view>
#include <vector>

#include "profile/disassembly.h"

namespace kw {

struct CarriedChain {
  double cycles = 0;            // of the longest chain in one iteration
  int operations = 0;           // arithmetic in that chain
  int accumulators = 0;         // registers that carry a chain
  bool through_memory = false;  // the longest one goes through a store and a load
};

CarriedChain carried_chain(const std::vector<Instruction>& body, std::string_view isa);

}  // namespace kw
