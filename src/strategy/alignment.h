// Alignment: whether a kernel does what it claims, and what it does without claiming it. Decided by the evidence of the strategies
// alone, in the code and in what the compiler made of it; never by a comment.
#pragma once

#include <string>
#include <vector>

#include "record/strategy.h"
#include "strategy/pool.h"

namespace kw {

struct CodeView {
  std::string source;
  std::vector<std::string> assembly_lines;  // every function of the kernel's object, AT&T syntax on x86
  std::vector<std::string> hot_loop_lines;  // its innermost hot loops; empty: none was found
  std::string isa;                          // x86 or arm
  bool has_assembly = false;                // false: nothing was compiled or disassembled, so that only the source can speak
  std::string target = "cpu";               // or gpu
  std::vector<std::string> ptx_lines{};     // gpu: of every kernel (ptx_code_lines); empty: nothing was compiled
};

// Every claim with what became of it, then what was added, each part sorted by id. A claim is present when all of its evidence
// holds, struck when some of it does not, and unknown when it has none or part of it cannot be looked at. Added are the considered
// strategies (those that apply to the problem) that are telling and wholly there, unless they are in conflict with a claim that
// stands, or such a claim has the same evidence.
// A claim that names no strategy of the pool for this target is struck.
std::vector<AlignedStrategy> align(const StrategyPool& pool, const CodeView& code, const std::vector<std::string>& claims,
                                   const std::vector<std::string>& considered);

}  // namespace kw
