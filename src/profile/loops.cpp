#include "profile/loops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "profile/assembly_hash.h"
#include "profile/control_flow.h"
#include "profile/instruction_kinds.h"

namespace kw {
namespace {

constexpr int kDeepest = 12;               // recursion would nest without end
constexpr double kIterationsPerLevel = 8;  // guessed
constexpr double kHotShare = 0.05;

void add_name(std::vector<std::string>& names, std::string_view name) {
  const auto place = std::lower_bound(names.begin(), names.end(), name);
  if (place == names.end() || *place != name) names.emplace(place, name);
}

bool has_frame_pointer(const Function& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(), [](const Instruction& instruction) {
    return instruction.operands == "%rsp,%rbp" || instruction.operands == "x29, sp";
  });
}

void count_memory(const InstructionKind& kind, bool frame_pointer, LoopCounts& counts) {
  const bool on_stack = kind.stack_slot || (kind.frame_slot && frame_pointer);
  counts.prefetches += kind.prefetches ? 1 : 0;
  counts.gathers += kind.gathers ? 1 : 0;
  counts.streaming_stores += kind.streams ? 1 : 0;
  if (on_stack) {
    counts.spill_loads += kind.loads ? 1 : 0;
    counts.spill_stores += kind.stores ? 1 : 0;
  } else if (!kind.constant) {
    counts.loads += kind.loads ? 1 : 0;
    counts.stores += kind.stores ? 1 : 0;
  }
}

LoopCounts counts_of(const std::vector<Instruction>& body, std::string_view isa, bool frame_pointer) {
  LoopCounts counts;
  for (const Instruction& instruction : body) {
    const InstructionKind kind = kind_of(instruction, isa);
    ++counts.instructions;
    if (kind.call) {
      const std::string_view name = std::string_view(instruction.symbol).substr(0, instruction.symbol.find('@'));
      add_name(is_libm(name) ? counts.libm_calls : counts.other_calls, name.empty() ? "a function pointer" : name);
      continue;
    }
    if (kind.arithmetic && kind.vector_bits > 0) {
      ++counts.vector_ops[kind.vector_bits];
      ++(kind.floating ? counts.packed_float_ops : counts.packed_integer_ops);
    } else if (kind.arithmetic) {
      ++counts.scalar_float_ops;
      counts.scalar_additions += kind.adds ? 1 : 0;
      counts.scalar_multiplications += kind.multiplies ? 1 : 0;
    }
    if (kind.divides) ++(kind.arithmetic ? counts.divisions : counts.integer_divisions);
    counts.shuffles += kind.shuffles ? 1 : 0;
    count_memory(kind, frame_pointer, counts);
  }
  return counts;
}

// The line that most of the loop comes from; lines of the kernel's own file before those of headers.
void name_source_line(Loop& loop, const std::string& own_file) {
  std::map<int, int> lines;
  for (const Instruction& instruction : loop.body)
    if (instruction.line > 0 && instruction.file == own_file) ++lines[instruction.line];
  int most = 0;
  for (const auto& [line, times] : lines)
    if (times > most) {
      most = times;
      loop.line = line;
      loop.file = own_file;
    }
}

// The source file that most instructions of the kernel come from.
std::string main_file(const Disassembly& code) {
  std::map<std::string, int> files;
  for (const Function& function : code.functions)
    for (const Instruction& instruction : function.instructions)
      if (!instruction.file.empty()) ++files[instruction.file];
  if (files.contains("kernel.cpp")) return "kernel.cpp";
  const auto most = std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == files.end() ? "" : most->first;
}

struct FunctionLoops {
  const Function* function = nullptr;
  std::vector<FlowLoop> loops;
  std::vector<int> depth_at;  // of each instruction
  int around = 0;             // loops around it in its callers
};

// A function that is called within a loop is as deep as its deepest call.
void nest_in_callers(const Disassembly& code, std::vector<FunctionLoops>& functions) {
  std::unordered_map<const Function*, std::size_t> index;
  for (std::size_t f = 0; f < functions.size(); ++f) index[functions[f].function] = f;
  for (int round = 0; round < kDeepest; ++round) {
    bool changed = false;
    for (const FunctionLoops& caller : functions)
      for (std::size_t i = 0; i < caller.function->instructions.size(); ++i) {
        const auto& target = caller.function->instructions[i].target;
        const Function* callee = target ? function_at(code, *target) : nullptr;
        const auto found = callee && callee != caller.function ? index.find(callee) : index.end();
        if (found == index.end()) continue;
        const int around = std::min(kDeepest, caller.around + caller.depth_at[i]);
        if (around > functions[found->second].around) {
          functions[found->second].around = around;
          changed = true;
        }
      }
    if (!changed) break;
  }
}

// Kinds of arithmetic as one letter each; what a compiler may contract or exchange shares one.
std::string arithmetic_letters(const Loop& loop, std::string_view isa) {
  std::string letters;
  for (const Instruction& instruction : loop.body) {
    const InstructionKind kind = kind_of(instruction, isa);
    if (kind.arithmetic && kind.floating) letters += kind.divides ? 'd' : kind.adds || kind.multiplies ? 'a' : 'o';
  }
  return letters;
}

// Compilers and people let a narrower loop with the same work follow a vector loop for the last few elements.
bool is_remainder_of(const Loop& loop, const Loop& wide, std::string_view isa) {
  constexpr std::uint64_t kNearBytes = 512;
  constexpr int kNearLines = 12;
  const int bits = loop.counts.packed_float_ops > 0 || loop.counts.scalar_float_ops == 0 ? loop.counts.widest_bits() : 0;
  const std::uint64_t begin = loop.body.front().address, end_of_wide = wide.body.back().address;
  if (wide.counts.widest_bits() <= bits || begin < end_of_wide || begin - end_of_wide > kNearBytes) return false;
  if (loop.line > 0 && wide.line > 0 && std::abs(loop.line - wide.line) > kNearLines) return false;
  if (loop.counts.work() > wide.counts.work() || loop.counts.stores > wide.counts.stores) return false;
  const std::string of_wide = arithmetic_letters(wide, isa), of_loop = arithmetic_letters(loop, isa);
  return std::all_of(of_loop.begin(), of_loop.end(), [&](char letter) { return of_wide.find(letter) != std::string::npos; });
}

std::vector<Loop> loops_of_function(const FunctionLoops& of, std::string_view isa, const std::string& own_file) {
  const bool frame_pointer = has_frame_pointer(*of.function);
  std::vector<Loop> loops;
  std::vector<int> parents;
  for (const FlowLoop& flow : of.loops) {
    if (!flow.innermost) continue;
    Loop loop;
    loop.function = of.function->name;
    loop.depth = std::min(kDeepest, flow.depth + of.around);
    for (const std::size_t i : flow.instructions)
      if (!kind_of(of.function->instructions[i], isa).padding) loop.body.push_back(of.function->instructions[i]);
    if (loop.body.empty()) continue;
    loop.counts = counts_of(loop.body, isa, frame_pointer);
    loop.chain = carried_chain(loop.body, isa);
    name_source_line(loop, own_file);
    loops.push_back(std::move(loop));
    parents.push_back(flow.parent);
  }
  for (std::size_t l = 0; l < loops.size(); ++l)
    for (std::size_t o = 0; o < loops.size(); ++o)
      if (o != l && parents[o] == parents[l] && is_remainder_of(loops[l], loops[o], isa)) loops[l].is_remainder = true;
  return loops;
}

}  // namespace

int LoopCounts::work() const {
  return packed_float_ops + packed_integer_ops + scalar_float_ops + integer_divisions + gathers +
         static_cast<int>(libm_calls.size());
}

std::string source_name(std::string_view function) {
  if (const auto clone = function.find(" [clone"); clone != std::string_view::npos) function = function.substr(0, clone);
  if (const auto arguments = function.find('('); arguments != std::string_view::npos && arguments > 0)
    function = function.substr(0, arguments);
  const auto suffix = function.find('.');
  return std::string(function.substr(0, suffix == 0 ? std::string_view::npos : suffix));
}

std::vector<Loop> innermost_loops(const Disassembly& code) {
  std::vector<FunctionLoops> functions;
  for (const Function* function : functions_of_a_call(code)) {
    FunctionLoops of;
    of.function = function;
    of.loops = natural_loops(*function, code.isa);
    of.depth_at.assign(function->instructions.size(), 0);
    for (const FlowLoop& loop : of.loops)
      for (const std::size_t i : loop.instructions) of.depth_at[i] = std::max(of.depth_at[i], loop.depth);
    functions.push_back(std::move(of));
  }
  nest_in_callers(code, functions);
  const std::string own_file = main_file(code);
  std::vector<Loop> loops;
  for (const FunctionLoops& of : functions)
    for (Loop& loop : loops_of_function(of, code.isa, own_file)) loops.push_back(std::move(loop));

  double heaviest = 0;
  for (Loop& loop : loops) {
    // Copies have no arithmetic and still move data; a division or a call is worth several operations.
    const LoopCounts& counts = loop.counts;
    const double cost = counts.work() + 0.25 * (counts.loads + counts.stores) + 4 * (counts.divisions + counts.integer_divisions) +
                        16 * static_cast<double>(counts.libm_calls.size());
    loop.weight = loop.is_remainder ? 0 : cost * std::pow(kIterationsPerLevel, loop.depth);
    heaviest = std::max(heaviest, loop.weight);
  }
  for (Loop& loop : loops) {
    loop.weight = heaviest > 0 ? loop.weight / heaviest : 0;
    loop.hot = loop.weight >= kHotShare;
  }
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.weight > b.weight; });
  return loops;
}

CodeText code_text(const Disassembly& code) {
  CodeText text;
  text.isa = code.isa;
  text.hash = assembly_hash(code);
  for (const Function& function : code.functions) {
    text.assembly_lines.push_back(function.name + ":");
    for (const Instruction& instruction : function.instructions)
      if (!kind_of(instruction, code.isa).padding) text.assembly_lines.push_back(text_of(instruction));
  }
  for (const Loop& loop : innermost_loops(code))
    if (loop.hot)
      for (const Instruction& instruction : loop.body) text.hot_loop_lines.push_back(text_of(instruction));
  return text;
}

Result<CodeText> read_code(const fs::path& object) {
  KW_TRY(const Disassembly code, disassemble(object));
  return code_text(code);
}

}  // namespace kw
