// A module of PTX as parsed: names are resolved to registers, variables, functions and labels, nothing is checked about types yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/lanes.h"

namespace kw::vgpu {

enum class Space : std::uint8_t { generic, global, shared, local, constant, param, reg };
std::string_view space_name(Space space);

struct ParsedVariable {
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;
  std::uint64_t bytes = 0;  // 0: an array whose size the launch gives (extern shared)
  std::uint32_t align = 1;
  bool external = false;
  int line = 0;
  std::vector<std::byte> initial;  // shorter than bytes: the rest is zero
  struct Address {                 // a part of `initial` that is the address of a symbol
    std::size_t offset = 0;
    int bytes = 8;
    std::string symbol;
    std::int64_t addend = 0;
    int shift = 0;  // 0xFF00(sym) takes one byte of the address
  };
  std::vector<Address> addresses;
};

struct ParsedOperand {
  enum class Kind : std::uint8_t {
    reg,       // index: register
    special,   // text: name with its component, e.g. "tid.x"
    integer,   // integer
    single,    // integer: the bits of a float
    real,      // real
    variable,  // index: function variable (>= 0) or text: name of a module's variable or function; integer: offset
    address,   // elements[0] is base (reg, variable or integer), integer: offset; more elements: coordinates of tensors
    vector,    // elements
    list,      // elements in parentheses: of calls
    label,  // integer: index into the function's code; text: its name. Of tables of labels and prototypes: text alone, integer -1
    pair,   // elements[0] | elements[1]
    sink,   // _
  };
  Kind kind = Kind::sink;
  bool negated = false;  // !p
  bool minus = false;
  int index = -1;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
  std::vector<ParsedOperand> elements;
};

struct ParsedInstruction {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<ParsedOperand> operands;
  int guard = -1;  // register
  bool guard_negated = false;
  int line = 0;     // in the PTX
  int source = -1;  // index into ParsedModule::source_lines
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] bool has(std::string_view modifier) const;
};

struct ParsedPrototype {
  std::vector<ParsedVariable> results, params;
};

struct ParsedFunction {
  std::string name;
  bool entry = false, defined = false;
  int line = 0;
  std::vector<ParsedVariable> results, params;  // indices into `variables` are given by first_*
  std::vector<Type> registers;
  std::vector<ParsedVariable> variables;  // .local, .param and .shared of its scopes; first the results, then the params
  std::vector<ParsedInstruction> code;
  std::unordered_map<std::string_view, std::vector<int>> branch_targets;  // indices into code
  std::unordered_map<std::string_view, ParsedPrototype> prototypes;
  std::uint32_t max_threads[3] = {0, 0, 0}, required_threads[3] = {0, 0, 0}, cluster[3] = {0, 0, 0};
};

struct SourceLine {
  int file = 0, line = 0;
  int outer_file = 0, outer_line = 0;  // where it was inlined; 0 where it wasn't
};

struct ParsedModule {
  std::string text;  // what all the views point into
  std::string target;
  int version = 0;  // major * 10 + minor
  std::vector<ParsedVariable> variables;
  std::unordered_map<std::string, int> variable_index;
  std::vector<ParsedFunction> functions;
  std::unordered_map<std::string, int> function_index;
  std::map<int, std::string> files;
  std::vector<SourceLine> source_lines;
  std::unordered_map<std::string, std::string> aliases;
};

}  // namespace kw::vgpu
