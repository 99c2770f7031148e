// Bodies of functions: scopes, registers, labels and instructions.
#include <fmt/format.h>

#include <charconv>

#include "vgpu/ptx_parser_state.h"

namespace kw::vgpu {
namespace {

constexpr int kMostRegisters = 1 << 17;

}  // namespace

void PtxParser::parse_body(ParsedFunction& function) {
  function_ = &function;
  scopes_.clear();
  pending_targets_.clear();
  scopes_.emplace_back();
  scope_ = 0;
  for (const auto* list : {&function.results, &function.params}) {
    for (const ParsedVariable& variable : *list) {
      scopes_[0].variables[variable.name] = static_cast<int>(function.variables.size());
      function.variables.push_back(variable);
    }
  }
  parse_block();
  for (ParsedInstruction& instruction : function.code) {
    for (ParsedOperand& operand : instruction.operands) resolve_labels(operand, instruction.line);
  }
  for (const PendingLabels& pending : pending_targets_) {
    std::vector<int>& targets = function.branch_targets[pending.name];
    for (std::string_view name : pending.targets) {
      const int target = find_label(name, pending.scope);
      if (target < 0) throw PtxSyntaxError{pending.line, fmt::format("there is no label '{}'", name)};
      targets.push_back(target);
    }
  }
  function_ = nullptr;
  scope_ = -1;
}

void PtxParser::parse_block() {
  expect('{', "at the beginning of a block");
  if (++depth_ > kDeepestNesting) fail("blocks are nested too deeply");
  while (!peek().is('}')) {
    if (peek().kind == Token::Kind::end) fail("a block is not closed");
    parse_statement();
  }
  take();
  --depth_;
}

void PtxParser::parse_registers() {
  int vector = 1;
  Type type = Type::none;
  while (peek().kind == Token::Kind::dot_word) {
    const std::string_view word = take().text;
    if (word == "v2" || word == "v4") {
      vector = word[1] - '0';
    } else {
      type = type_named(word);
      if (type == Type::none) fail(fmt::format("'.{}' is no type of a register", word));
    }
  }
  if (type == Type::none) fail("a register has no type");
  if (vector != 1) fail("vector registers (.reg .v2, .v4) are not supported; use as many scalar ones");
  Scope& scope = scopes_[static_cast<std::size_t>(scope_)];
  do {
    const std::string_view name = expect_word("a register's name");
    const int first = static_cast<int>(function_->registers.size());
    std::int64_t count = 1;
    if (accept('<')) {
      count = parse_integer("a number of registers");
      expect('>', "after a number of registers");
      if (count < 0 || count + first > kMostRegisters) fail(fmt::format("{} registers", count));
      scope.ranges.push_back({name, static_cast<int>(count), first});
    } else {
      scope.registers[name] = first;
    }
    function_->registers.resize(function_->registers.size() + static_cast<std::size_t>(count), type);
  } while (accept(','));
  expect(';', "after registers");
}

void PtxParser::parse_statement() {
  if (parse_common_directive() || accept(';')) return;
  const Token token = peek();
  if (token.is('{')) {
    const int outer = scope_;
    scopes_.push_back({outer, {}, {}, {}, {}});
    scope_ = static_cast<int>(scopes_.size()) - 1;
    parse_block();
    scope_ = outer;
    return;
  }
  if (token.kind == Token::Kind::dot_word) {
    take();
    if (token.text == "reg") return parse_registers();
    Space space = Space::generic;
    if (token.text == "local") space = Space::local;
    if (token.text == "shared") space = Space::shared;
    if (token.text == "param") space = Space::param;
    if (token.text == "global" || token.text == "const") space = token.text == "const" ? Space::constant : Space::global;
    if (space == Space::generic) fail(fmt::format("the directive .{} is not known in a function", token.text));
    do {
      const Token* name = nullptr;
      for (int ahead = 0; name == nullptr; ++ahead) {
        if (peek(ahead).kind == Token::Kind::word) name = &peek(ahead);
        if (peek(ahead).kind == Token::Kind::end || peek(ahead).is(';')) fail("a variable has no name");
      }
      const std::string_view view = name->text;
      ParsedVariable variable = parse_variable(space, false);
      scopes_[static_cast<std::size_t>(scope_)].variables[view] = static_cast<int>(function_->variables.size());
      function_->variables.push_back(std::move(variable));
    } while (accept(','));
    expect(';', "after a variable");
    return;
  }
  if (token.kind == Token::Kind::word && peek(1).is(':') && !peek(2).is(':')) {
    take();
    take();
    return parse_labelled(token.text);
  }
  parse_instruction();
}

void PtxParser::parse_labelled(std::string_view label) {
  if (accept_dot("branchtargets")) {
    PendingLabels pending{label, {}, scope_, peek().line};
    do {
      pending.targets.push_back(expect_word("a label"));
    } while (accept(','));
    expect(';', "after labels");
    pending_targets_.push_back(std::move(pending));
  } else if (accept_dot("callprototype")) {
    ParsedPrototype prototype;
    if (peek().is('(')) prototype.results = parse_parameters();
    expect_word("'_'");
    if (peek().is('(')) prototype.params = parse_parameters();
    function_->prototypes[label] = std::move(prototype);
    skip_to_semicolon();
  } else if (accept_dot("calltargets")) {
    skip_to_semicolon();  // the address says which function it is
    function_->prototypes[label];
  } else {
    auto& labels = scopes_[static_cast<std::size_t>(scope_)].labels;
    if (!labels.emplace(label, static_cast<int>(function_->code.size())).second)
      fail(fmt::format("the label '{}' is there twice", label));
  }
}

void PtxParser::parse_instruction() {
  ParsedInstruction instruction;
  instruction.source = source_;
  if (accept('@')) {
    instruction.guard_negated = accept('!');
    const std::string_view name = expect_word("a predicate");
    instruction.guard = find_register(name);
    if (instruction.guard < 0) fail(fmt::format("there is no register '{}'", name));
    if (function_->registers[static_cast<std::size_t>(instruction.guard)] != Type::pred)
      fail(fmt::format("'{}' is no predicate", name));
  }
  instruction.line = peek().line;
  instruction.opcode = expect_word("an instruction");
  while (peek().kind == Token::Kind::dot_word) instruction.modifiers.push_back(take().text);
  if (!peek().is(';')) {
    do {
      instruction.operands.push_back(parse_operand());
    } while (accept(','));
  }
  if (!accept(';'))
    fail(fmt::format("expected ',' or ';' after an operand of {}, found '{}'", instruction.full_name(), peek().text));
  function_->code.push_back(std::move(instruction));
}

int PtxParser::find_register(std::string_view name) const {
  for (int at = scope_; at >= 0; at = scopes_[static_cast<std::size_t>(at)].parent) {
    const Scope& scope = scopes_[static_cast<std::size_t>(at)];
    if (const auto found = scope.registers.find(name); found != scope.registers.end()) return found->second;
    for (const RegisterRange& range : scope.ranges) {
      if (name.size() <= range.prefix.size() || !name.starts_with(range.prefix)) continue;
      const std::string_view digits = name.substr(range.prefix.size());
      int number = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error == std::errc() && end == digits.data() + digits.size() && number >= 0 && number < range.count)
        return range.first + number;
    }
  }
  return -1;
}

int PtxParser::find_variable(std::string_view name) const {
  for (int at = scope_; at >= 0; at = scopes_[static_cast<std::size_t>(at)].parent) {
    const Scope& scope = scopes_[static_cast<std::size_t>(at)];
    if (const auto found = scope.variables.find(name); found != scope.variables.end()) return found->second;
  }
  return -1;
}

int PtxParser::find_label(std::string_view name, int scope) const {
  for (int at = scope; at >= 0; at = scopes_[static_cast<std::size_t>(at)].parent) {
    const auto& labels = scopes_[static_cast<std::size_t>(at)].labels;
    if (const auto found = labels.find(name); found != labels.end()) return found->second;
  }
  return -1;
}

void PtxParser::resolve_labels(ParsedOperand& operand, int line) {
  for (ParsedOperand& element : operand.elements) resolve_labels(element, line);
  if (operand.kind != ParsedOperand::Kind::label) return;
  const std::int64_t offset = operand.integer;
  const int target = find_label(operand.text, operand.index);
  if (target >= 0) {
    operand.integer = target;
    return;
  }
  operand.integer = -1;
  if (function_->prototypes.contains(operand.text)) return;
  for (const PendingLabels& pending : pending_targets_) {
    if (pending.name == operand.text) return;
  }
  // A name of the module, which may be declared further down: decode looks it up.
  operand.kind = ParsedOperand::Kind::variable;
  operand.index = -1;
  operand.integer = offset;
}

}  // namespace kw::vgpu
