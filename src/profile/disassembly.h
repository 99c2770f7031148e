// The machine code of a compiled kernel as functions and instructions, read with objdump (AT&T syntax on x86). Nothing of the
// object is run. Linkage stubs and what the compiler adds to every object are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace kw {

struct Instruction {
  std::uint64_t address = 0;
  std::string mnemonic;                 // with its prefixes: "rep stos"
  std::string operands;                 // as objdump writes them, without symbols and comments
  std::string symbol;                   // that objdump names beside an address: "expf@plt", "kw_kernel+0x40"
  std::optional<std::uint64_t> target;  // of a jump or call; or the address that an operand relative to the code stands for
  std::string file;                     // of the source, without folders; empty where unknown
  int line = 0;
};

struct Function {
  std::string name;
  std::vector<Instruction> instructions;
};

// Constants that the code reads.
struct DataSection {
  std::string name;
  std::uint64_t address = 0;
  std::string bytes;
};

struct Disassembly {
  std::string isa;  // x86, arm, or empty for others
  std::vector<Function> functions;
  std::vector<DataSection> data;
};

// Line numbers are there when the object was compiled with them.
Result<Disassembly> disassemble(const fs::path& object);

// Of what `objdump -d -l -C --no-show-raw-insn` prints.
Result<Disassembly> parse_disassembly(std::string_view text);
// Of what `objdump -s` prints; sections that hold no constants are left out.
std::vector<DataSection> parse_data_sections(std::string_view text);

// On one line, with the symbol in place of an address: "call expf@plt".
std::string text_of(const Instruction& instruction);

// Operands apart; commas within brackets do not part them.
std::vector<std::string> split_operands(std::string_view operands);

// Functions that can be reached from what is called for every input; all of them when no such entry is there.
// What only kw_prepare reaches runs once per weights and is not among them.
std::vector<const Function*> functions_of_a_call(const Disassembly& code);

// The function that an address lies in; nullptr when it is none of the kernel's.
const Function* function_at(const Disassembly& code, std::uint64_t address);

}  // namespace kw
