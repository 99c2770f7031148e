// What an instruction does, as far as a profile asks: arithmetic and its width, memory, control flow. x86-64 in AT&T syntax and
// the common part of AArch64; an instruction that is not known does nothing that is counted.
#pragma once

#include <string_view>
#include <vector>

#include "profile/disassembly.h"

namespace kw {

struct InstructionKind {
  bool padding = false;
  bool jump = false;         // within the function or out of it by a tail call
  bool conditional = false;  // a jump that may fall through
  bool call = false;
  bool returns = false;

  bool arithmetic = false;  // on floats or packed integers; moves, shuffles and bit masks are none
  bool floating = false;
  int vector_bits = 0;  // of packed arithmetic; 0: scalar
  bool adds = false, multiplies = false, divides = false;
  bool shuffles = false;
  double latency = 0;  // cycles until its result can be used, about as on current cores

  bool loads = false, stores = false, streams = false, prefetches = false, gathers = false;
  bool stack_slot = false;  // its memory operand is a fixed place of the stack
  bool frame_slot = false;  // the same, where rbp is the frame's pointer
  bool constant = false;    // its memory operand is relative to the code
};

InstructionKind kind_of(const Instruction& instruction, std::string_view isa);

// Numbers of the vector registers that it writes and reads; -1: writes none.
struct VectorRegisters {
  int written = -1;
  std::vector<int> read;
};
VectorRegisters vector_registers_of(const Instruction& instruction, const InstructionKind& kind, std::string_view isa);

// Is this name, without "@plt", a function of libm (or its vector form)?
bool is_libm(std::string_view function);

}  // namespace kw
