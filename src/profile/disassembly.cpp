#include "profile/disassembly.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/subprocess.h"

namespace kw {
namespace {

constexpr std::size_t kMostText = 64 << 20;

std::string_view without_spaces_around(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> hex_number(std::string_view text) {
  if (text.substr(0, 2) == "0x") text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_stub(std::string_view function) {
  static constexpr std::array<std::string_view, 7> kStubs{
      "deregister_tm_clones",   "register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "call_weak_fn", "_start",
      "_dl_relocate_static_pie"};
  return std::find(kStubs.begin(), kStubs.end(), function) != kStubs.end();
}

bool is_prefix_word(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kPrefixes{"rep", "repz", "repnz", "lock", "notrack", "bnd",   "data16",
                                                              "cs",  "ds",   "es",    "fs",   "gs",      "rex.W", "addr32"};
  return std::find(kPrefixes.begin(), kPrefixes.end(), word) != kPrefixes.end();
}

// "1228 <kw_kernel+0xe8>": the address and the name. What stands before the address stays in `operands`.
void take_address(std::string_view text, Instruction& instruction) {
  const auto open = text.find('<');
  if (open == std::string_view::npos) return;
  const auto close = text.rfind('>');
  if (close == std::string_view::npos || close < open) return;
  std::string_view before = without_spaces_around(text.substr(0, open));
  if (const auto space = before.find_last_of(" \t,"); space != std::string_view::npos) before = before.substr(space + 1);
  if (const auto address = hex_number(before)) {
    instruction.target = address;
    instruction.symbol = std::string(text.substr(open + 1, close - open - 1));
  }
}

Instruction parse_instruction(std::uint64_t address, std::string_view text) {
  Instruction instruction;
  instruction.address = address;
  // x86 explains an operand after '#', ARM after "//"; only x86's is an address. '#' also marks ARM's constants.
  if (const auto comment = text.find("//"); comment != std::string_view::npos) text = text.substr(0, comment);
  if (const auto comment = text.find("# "); comment != std::string_view::npos) {
    take_address(text.substr(comment + 2), instruction);
    text = text.substr(0, comment);
  }
  text = without_spaces_around(text);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    if (!instruction.mnemonic.empty()) instruction.mnemonic += ' ';
    instruction.mnemonic += word;
    text = without_spaces_around(text.substr(end));
    if (!is_prefix_word(word)) break;
  }
  if (!instruction.target) take_address(text, instruction);
  if (instruction.target && text.find('<') != std::string_view::npos) text = without_spaces_around(text.substr(0, text.find('<')));
  instruction.operands = std::string(text);
  return instruction;
}

// "/build/kernel.cpp:48 (discriminator 3)"
bool take_source_line(std::string_view text, std::string& file, int& line) {
  if (const auto more = text.find(" (discriminator"); more != std::string_view::npos) text = text.substr(0, more);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view digits = text.substr(colon + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  file = fs::path(std::string(text.substr(0, colon))).filename().string();
  line = number;
  return true;
}

std::string isa_of_format(std::string_view format) {
  if (format.find("x86-64") != std::string_view::npos || format.find("i386") != std::string_view::npos) return "x86";
  if (format.find("aarch64") != std::string_view::npos || format.find("arm64") != std::string_view::npos) return "arm";
  return "";
}

template <typename Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void reach_from(const Disassembly& code, const Function* function, std::set<const Function*>& reached) {
  std::vector<const Function*> open{function};
  while (!open.empty()) {
    const Function* next = open.back();
    open.pop_back();
    if (!next || !reached.insert(next).second) continue;
    for (const Instruction& instruction : next->instructions)
      if (instruction.target) open.push_back(function_at(code, *instruction.target));
  }
}

}  // namespace

std::vector<std::string> split_operands(std::string_view operands) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : operands) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back(without_spaces_around(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!without_spaces_around(part).empty()) parts.emplace_back(without_spaces_around(part));
  return parts;
}

std::string text_of(const Instruction& instruction) {
  if (instruction.operands.empty()) return instruction.mnemonic;
  const bool is_address = instruction.target && !instruction.symbol.empty();
  const std::string_view operands = instruction.operands;
  // ARM's conditional jumps have a register before the address: "cbz x0, 1c".
  const auto last = operands.find_last_of(" \t,");
  const std::string_view address = last == std::string_view::npos ? operands : operands.substr(last + 1);
  if (is_address && hex_number(address) == instruction.target)
    return fmt::format("{} {}{}", instruction.mnemonic, operands.substr(0, operands.size() - address.size()), instruction.symbol);
  return fmt::format("{} {}", instruction.mnemonic, operands);
}

Result<Disassembly> parse_disassembly(std::string_view text) {
  Disassembly code;
  bool known_format = false;
  bool in_code = false;
  bool in_function = false;
  std::string file;
  int line = 0;
  for_each_line(text, [&](std::string_view row) {
    if (const auto format = row.find("file format "); format != std::string_view::npos && !known_format) {
      known_format = true;
      code.isa = isa_of_format(row.substr(format));
    } else if (row.starts_with("Disassembly of section ")) {
      in_code = row.find(".text") != std::string_view::npos;
      in_function = false;
    } else if (in_code && row.ends_with(">:") && row.find(" <") != std::string_view::npos) {
      const auto open = row.find(" <");
      const std::string name(row.substr(open + 2, row.size() - open - 4));
      in_function = !is_stub(name);
      if (in_function) code.functions.push_back({name, {}});
      file.clear();
      line = 0;
    } else if (in_function && !row.empty() && (row.front() == ' ' || row.front() == '\t')) {
      const auto colon = row.find(':');
      if (colon == std::string_view::npos) return;
      const auto address = hex_number(without_spaces_around(row.substr(0, colon)));
      const auto body = without_spaces_around(row.substr(colon + 1));
      if (!address || body.empty() || body == "...") return;
      Instruction instruction = parse_instruction(*address, body);
      instruction.file = file;
      instruction.line = line;
      code.functions.back().instructions.push_back(std::move(instruction));
    } else if (in_function) {
      take_source_line(row, file, line);
    }
  });
  if (!known_format)
    return internal_error("objdump's output names no file format",
                          "its version may write another layout: try `objdump -d` on the kernel's object");
  std::erase_if(code.functions, [](const Function& function) { return function.instructions.empty(); });
  return code;
}

std::vector<DataSection> parse_data_sections(std::string_view text) {
  static constexpr std::string_view kTitle = "Contents of section ";
  std::vector<DataSection> sections;
  bool wanted = false;
  for_each_line(text, [&](std::string_view row) {
    if (row.starts_with(kTitle)) {
      std::string_view name = row.substr(kTitle.size());
      if (const auto colon = name.rfind(':'); colon != std::string_view::npos) name = name.substr(0, colon);
      wanted = name.starts_with(".rodata") || name.starts_with(".data");
      if (wanted) sections.push_back({std::string(name), 0, ""});
      return;
    }
    if (!wanted || row.size() < 2 || row.front() != ' ') return;
    // " 2000 0000003f 0000803e                    ...?...>": two blanks part the bytes from the same as text.
    const auto end_of_address = row.find(' ', 1);
    if (end_of_address == std::string_view::npos) return;
    const auto address = hex_number(row.substr(1, end_of_address - 1));
    if (!address) return;
    if (sections.back().bytes.empty()) sections.back().address = *address;
    std::string_view bytes = row.substr(end_of_address + 1);
    bytes = bytes.substr(0, std::min({bytes.find("  "), bytes.size(), std::size_t{35}}));
    for (std::size_t i = 0; i + 1 < bytes.size();) {
      if (bytes[i] == ' ') {
        ++i;
        continue;
      }
      if (const auto byte = hex_number(bytes.substr(i, 2))) sections.back().bytes += static_cast<char>(*byte);
      i += 2;
    }
  });
  return sections;
}

const Function* function_at(const Disassembly& code, std::uint64_t address) {
  for (const Function& function : code.functions)
    if (address >= function.instructions.front().address && address <= function.instructions.back().address) return &function;
  return nullptr;
}

std::vector<const Function*> functions_of_a_call(const Disassembly& code) {
  std::set<const Function*> reached;
  for (const Function& function : code.functions)
    if (function.name == "kw_call" || function.name == "kw_kernel") reach_from(code, &function, reached);
  std::vector<const Function*> functions;
  for (const Function& function : code.functions)
    if (reached.empty() || reached.contains(&function)) functions.push_back(&function);
  return functions;
}

Result<Disassembly> disassemble(const fs::path& object) {
  const std::string objdump = find_program("objdump");
  if (objdump.empty()) return bad_input("objdump is not installed: compiled kernels cannot be read", "apt-get install binutils");
  const auto run = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{objdump};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.insert(argv.end(), {"--", object.string()});
    return run_command({argv, {{"LC_ALL", "C"}}, "", std::chrono::seconds(30), kMostText});
  };
  KW_TRY(const CommandOutcome listing, run({"-d", "-l", "-C", "--no-show-raw-insn"}));
  if (!listing.succeeded())
    return internal_error(
        fmt::format("objdump cannot read {}: {}", object.string(),
                    listing.timed_out ? "it did not finish within 30 s" : listing.err.substr(0, listing.err.find('\n'))),
        "check that it is an object of this machine's compiler");
  KW_TRY(Disassembly code, parse_disassembly(listing.out));
  // Not every object has each of these sections, which objdump calls a failure.
  KW_TRY(const CommandOutcome contents, run({"-s", "-j", ".rodata", "-j", ".data", "-j", ".data.rel.ro"}));
  code.data = parse_data_sections(contents.out);
  return code;
}

}  // namespace kw
