#include "profile/chains.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "profile/instruction_kinds.h"

namespace kw {
namespace {

constexpr double kStoreToLoadCycles = 5;

struct ChainLink {
  double cycles = 0;
  int operations = 0;
};
using ChainMap = std::map<int, ChainLink>;

struct ChainStep {
  InstructionKind kind;
  VectorRegisters registers;
  std::string memory;  // its memory operand, where that is the same place in every iteration
};

// Adds the instruction to every chain that it continues and ends those that it overwrites.
void follow_chain(const ChainStep& step, ChainMap& chains) {
  std::optional<ChainLink> longest;
  for (const int source : step.registers.read)
    if (const auto chain = chains.find(source); chain != chains.end() && (!longest || chain->second.cycles > longest->cycles))
      longest = chain->second;
  if (step.registers.written < 0) return;
  if (longest)
    chains[step.registers.written] = {longest->cycles + step.kind.latency, longest->operations + (step.kind.arithmetic ? 1 : 0)};
  else
    chains.erase(step.registers.written);
}

std::string memory_operand(const Instruction& instruction) {
  for (const std::string& operand : split_operands(instruction.operands))
    if (operand.find_first_of("([") != std::string::npos) return operand;
  return "";
}

// x86 alone: general registers that the loop changes, so that what they address moves.
std::set<std::string> changed_registers(const std::vector<Instruction>& body) {
  std::set<std::string> changed;
  for (const Instruction& instruction : body) {
    const auto operands = split_operands(instruction.operands);
    const bool reads_only = instruction.mnemonic.starts_with("cmp") || instruction.mnemonic.starts_with("test");
    if (!operands.empty() && !reads_only && operands.back().starts_with("%r")) changed.insert(operands.back());
    // A write to %eax changes %rax.
    if (!operands.empty() && !reads_only && operands.back().starts_with("%e")) changed.insert("%r" + operands.back().substr(2));
  }
  return changed;
}

bool mentions_any(const std::string& operand, const std::set<std::string>& registers) {
  return std::any_of(registers.begin(), registers.end(), [&](const std::string& name) {
    const auto place = operand.find(name);
    if (place == std::string::npos) return false;
    const char after = place + name.size() < operand.size() ? operand[place + name.size()] : ')';
    return after == ',' || after == ')';
  });
}

void note_chain(const ChainLink& link, bool through_memory, CarriedChain& result) {
  if (link.operations == 0) return;
  ++result.accumulators;
  if (link.cycles <= result.cycles) return;
  result.cycles = link.cycles;
  result.operations = link.operations;
  result.through_memory = through_memory;
}

}  // namespace

CarriedChain carried_chain(const std::vector<Instruction>& body, std::string_view isa) {
  CarriedChain result;
  const std::set<std::string> changed = isa == "x86" ? changed_registers(body) : std::set<std::string>{};
  std::vector<ChainStep> steps;
  for (const Instruction& instruction : body) {
    ChainStep step;
    step.kind = kind_of(instruction, isa);
    step.registers = vector_registers_of(instruction, step.kind, isa);
    if (isa == "x86" && (step.kind.loads || step.kind.stores) && !step.kind.constant) step.memory = memory_operand(instruction);
    if (mentions_any(step.memory, changed)) step.memory.clear();
    steps.push_back(std::move(step));
  }
  for (int start = 0; start < 32; ++start) {
    ChainMap chains{{start, {}}};
    for (const ChainStep& step : steps) follow_chain(step, chains);
    if (const auto end = chains.find(start); end != chains.end()) note_chain(end->second, false, result);
  }
  std::set<std::string> stored;
  for (const ChainStep& step : steps)
    if (step.kind.stores && !step.memory.empty()) stored.insert(step.memory);
  for (const std::string& place : stored) {
    // From the load of this place to the store to it.
    ChainMap chains;
    std::optional<ChainLink> end;
    for (const ChainStep& step : steps) {
      if (step.memory == place && step.kind.stores) {
        for (const int source : step.registers.read)
          if (const auto chain = chains.find(source); chain != chains.end()) end = chain->second;
      } else if (step.memory == place && step.kind.loads && step.registers.written >= 0) {
        follow_chain(step, chains);
        ChainLink& link = chains[step.registers.written];
        link = {std::max(link.cycles, kStoreToLoadCycles + step.kind.latency),
                std::max(link.operations, step.kind.arithmetic ? 1 : 0)};
      } else {
        follow_chain(step, chains);
      }
    }
    if (end) note_chain(*end, true, result);
  }
  return result;
}

}  // namespace kw
