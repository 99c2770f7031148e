// The innermost loops of a kernel with what they do per iteration, and which of them seem to do the work. Read from the code
// alone: how often a loop runs is guessed from how deep it is nested.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/chains.h"
#include "profile/disassembly.h"

namespace kw {

struct LoopCounts {
  int instructions = 0;
  std::map<int, int> vector_ops;  // packed arithmetic by width in bits
  int packed_float_ops = 0;
  int packed_integer_ops = 0;
  int scalar_float_ops = 0;
  int scalar_additions = 0, scalar_multiplications = 0;
  int loads = 0, stores = 0;  // of data: neither constants nor spills
  int streaming_stores = 0;
  int spill_loads = 0, spill_stores = 0;  // fixed places of the stack
  int divisions = 0;                      // and square roots
  int integer_divisions = 0;
  int gathers = 0, prefetches = 0, shuffles = 0;
  std::vector<std::string> libm_calls, other_calls;  // without "@plt", sorted, each once

  [[nodiscard]] int spills() const { return spill_loads + spill_stores; }
  [[nodiscard]] int widest_bits() const { return vector_ops.empty() ? 0 : vector_ops.rbegin()->first; }
  [[nodiscard]] int work() const;
};

struct Loop {
  std::string function;
  std::vector<Instruction> body;  // in the order of addresses, without padding
  int depth = 1;                  // loops around it in callers included
  std::string file;               // of the source, where known
  int line = 0;                   // that most of it comes from
  LoopCounts counts;
  CarriedChain chain;
  bool is_remainder = false;  // takes what a wider loop before it leaves
  double weight = 0;          // of the heaviest loop: 1
  bool hot = false;
};

// Innermost loops that are run for every call, the heaviest first.
std::vector<Loop> innermost_loops(const Disassembly& code);

// "kw_kernel" of "kw_kernel._omp_fn.0": how the source calls it.
std::string source_name(std::string_view function);

// What alignment looks at, as text.
struct CodeText {
  std::vector<std::string> assembly_lines;  // of all functions of the kernel; a function's name and ":" before its instructions
  std::vector<std::string> hot_loop_lines;
  std::string isa;   // x86 or arm
  std::string hash;  // assembly_hash
};
CodeText code_text(const Disassembly& code);
Result<CodeText> read_code(const fs::path& object);

}  // namespace kw
