#include "profile/assembly_hash.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "base/hash.h"
#include "profile/instruction_kinds.h"

namespace kw {
namespace {

// How many bytes an operand in memory has; more than it has would only tell apart what is alike.
std::size_t operand_bytes(const Instruction& instruction) {
  const std::string_view mnemonic = instruction.mnemonic;
  const std::string_view operands = instruction.operands;
  const auto ends = [&](std::string_view ending) { return mnemonic.ends_with(ending); };
  if (operands.find("{1to") != std::string_view::npos) return ends("pd") || ends("q") ? 8 : 4;
  if (ends("128") || mnemonic.find("32x4") != std::string_view::npos || mnemonic.find("64x2") != std::string_view::npos) return 16;
  if (mnemonic.find("broadcast") != std::string_view::npos) return ends("sd") || ends("q") ? 8 : ends("ss") || ends("d") ? 4 : 8;
  if (ends("ss")) return 4;
  if (ends("sd")) return 8;
  if (operands.find("%zmm") != std::string_view::npos) return 64;
  if (operands.find("%ymm") != std::string_view::npos) return 32;
  if (operands.find("%xmm") != std::string_view::npos) return 16;
  return 8;
}

class CodeNormaliser {
 public:
  explicit CodeNormaliser(const Disassembly& code) : code_(code) {
    for (const std::string_view entry : {"kw_call", "kw_kernel", "kw_call_prepare", "kw_prepare"})
      for (const Function& function : code.functions)
        if (function.name == entry) number_of(&function);
  }

  std::string hash() {
    std::string text = code_.isa + "\n";
    // Functions are numbered as they are met, so that their order in the object and their names do not matter.
    for (std::size_t next = 0;; ++next) {
      if (next == order_.size()) {
        const auto unmet = std::find_if(code_.functions.begin(), code_.functions.end(),
                                        [&](const Function& function) { return !numbers_.contains(&function); });
        if (unmet == code_.functions.end()) break;
        number_of(&*unmet);
      }
      append_function(*order_[next], text);
    }
    if (whole_data_)
      for (const DataSection& section : code_.data) text += fmt::format("{} {}\n", section.name, sha256(section.bytes));
    return sha256(text);
  }

 private:
  std::size_t number_of(const Function* function) {
    const auto [it, is_new] = numbers_.try_emplace(function, order_.size());
    if (is_new) order_.push_back(function);
    return it->second;
  }

  void append_function(const Function& function, std::string& text) {
    text += fmt::format("function {}\n", numbers_.at(&function));
    std::unordered_map<std::uint64_t, std::size_t> place;  // padding stands for the instruction behind it
    std::size_t count = 0;
    for (const Instruction& instruction : function.instructions) {
      place[instruction.address] = count;
      if (!kind_of(instruction, code_.isa).padding) ++count;
    }
    for (const Instruction& instruction : function.instructions)
      if (!kind_of(instruction, code_.isa).padding) text += normalised(instruction, function, place);
  }

  std::string normalised(const Instruction& instruction, const Function& function,
                         const std::unordered_map<std::uint64_t, std::size_t>& place) {
    if (!instruction.target) return fmt::format("{} {}\n", instruction.mnemonic, instruction.operands);
    const std::uint64_t target = *instruction.target;
    std::string operands = instruction.operands;
    // The number in the text is an address or a distance to one.
    if (const auto rip = operands.find("(%rip)"); rip != std::string::npos) {
      const auto begin = operands.find_last_of(" ,*", rip);
      operands.erase(begin == std::string::npos ? 0 : begin + 1, rip - (begin == std::string::npos ? 0 : begin + 1));
    } else {
      const auto begin = operands.find_last_of(" ,*");
      operands.erase(begin == std::string::npos ? 0 : begin + 1);
    }
    return fmt::format("{} {} {}\n", instruction.mnemonic, operands, meaning_of(instruction, target, function, place));
  }

  std::string meaning_of(const Instruction& instruction, std::uint64_t target, const Function& function,
                         const std::unordered_map<std::uint64_t, std::size_t>& place) {
    if (const auto here = place.find(target); here != place.end()) return fmt::format("to {}", here->second);
    if (const Function* other = function_at(code_, target); other && other != &function)
      return fmt::format("function {}+{}", number_of(other), target - other->instructions.front().address);
    for (const DataSection& section : code_.data) {
      if (target < section.address || target >= section.address + section.bytes.size()) continue;
      const std::size_t offset = target - section.address;
      const InstructionKind kind = kind_of(instruction, code_.isa);
      if (kind.loads && section.name.starts_with(".rodata")) return constant(section, offset, operand_bytes(instruction));
      whole_data_ = true;  // an address is taken: of a table whose length the code does not say
      return fmt::format("{}+{}", section.name, offset);
    }
    if (code_.isa == "arm" && instruction.mnemonic == "adrp") {
      whole_data_ = true;
      return "page";
    }
    // What the linker looks up has its name; the kernel's own variables are numbered as they are met.
    if (instruction.symbol.find('@') != std::string::npos && instruction.symbol.find('+') == std::string::npos)
      return instruction.symbol;
    return fmt::format("variable {}", variables_.try_emplace(target, variables_.size()).first->second);
  }

  static std::string constant(const DataSection& section, std::size_t offset, std::size_t bytes) {
    std::string text = "constant ";
    for (std::size_t i = offset; i < std::min(offset + bytes, section.bytes.size()); ++i)
      text += fmt::format("{:02x}", static_cast<unsigned char>(section.bytes[i]));
    return text;
  }

  const Disassembly& code_;
  std::unordered_map<const Function*, std::size_t> numbers_;
  std::vector<const Function*> order_;
  std::unordered_map<std::uint64_t, std::size_t> variables_;
  bool whole_data_ = false;
};

}  // namespace

std::string assembly_hash(const Disassembly& code) { return CodeNormaliser(code).hash(); }

}  // namespace kw
