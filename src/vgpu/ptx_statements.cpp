// Bodies of functions: scopes, registers, labels, instructions and their operands.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>

#include "vgpu/ptx_parser_state.h"

namespace kw::vgpu {
namespace {

constexpr int kDeepestNesting = 200;  // of blocks and of parentheses
constexpr int kMostRegisters = 1 << 20;

constexpr std::string_view kSpecialPrefixes[] = {"%tid",
                                                 "%ntid",
                                                 "%laneid",
                                                 "%warpid",
                                                 "%nwarpid",
                                                 "%ctaid",
                                                 "%nctaid",
                                                 "%smid",
                                                 "%nsmid",
                                                 "%gridid",
                                                 "%is_explicit_cluster",
                                                 "%clusterid",
                                                 "%nclusterid",
                                                 "%cluster_ctaid",
                                                 "%cluster_nctaid",
                                                 "%cluster_ctarank",
                                                 "%cluster_nctarank",
                                                 "%lanemask_eq",
                                                 "%lanemask_le",
                                                 "%lanemask_lt",
                                                 "%lanemask_ge",
                                                 "%lanemask_gt",
                                                 "%clock",
                                                 "%clock_hi",
                                                 "%clock64",
                                                 "%globaltimer",
                                                 "%globaltimer_lo",
                                                 "%globaltimer_hi",
                                                 "%total_smem_size",
                                                 "%aggr_smem_size",
                                                 "%dynamic_smem_size",
                                                 "%current_graph_exec",
                                                 "%reserved_smem_offset_begin",
                                                 "%reserved_smem_offset_end",
                                                 "%reserved_smem_offset_cap",
                                                 "WARP_SZ"};

bool is_special(std::string_view name) {
  for (std::string_view special : kSpecialPrefixes) {
    if (name == special) return true;
  }
  return name.starts_with("%envreg") || name.starts_with("%pm") || name.starts_with("%reserved_smem_offset_");
}

int binary_precedence(const Token& token, const Token& next) {
  if (token.kind != Token::Kind::punctuation) return 0;
  switch (token.text[0]) {
    case '|':
      return 1;
    case '^':
      return 2;
    case '&':
      return 3;
    case '<':
      return next.is('<') ? 4 : 0;
    case '>':
      return next.is('>') ? 4 : 0;
    case '+':
    case '-':
      return 5;
    case '*':
    case '/':
    case '%':
      return 6;
    default:
      return 0;
  }
}

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

ParsedOperand PtxParser::parse_operand() {
  ParsedOperand first = parse_simple_operand();
  if (!accept('|')) return first;
  ParsedOperand pair;
  pair.kind = ParsedOperand::Kind::pair;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(parse_simple_operand());
  return pair;
}

ParsedOperand PtxParser::parse_simple_operand() {
  ParsedOperand operand;
  if (peek().is('[')) return parse_address();
  if (peek().is('{') || peek().is('(')) {
    const char close = peek().is('{') ? '}' : ')';
    if (close == ')' && (peek(1).kind == Token::Kind::number || peek(1).is('-') || peek(1).is('('))) {
      // Either a constant expression or a list of arguments; a list that starts with a number has names or a comma later.
      int ahead = 1;
      bool list = false;
      for (int depth = 1; depth > 0 && peek(ahead).kind != Token::Kind::end; ++ahead) {
        if (peek(ahead).is('(')) ++depth;
        if (peek(ahead).is(')')) --depth;
        list = list || peek(ahead).is(',') || peek(ahead).kind == Token::Kind::word;
      }
      if (!list && !peek(ahead).is(',') && !peek(ahead).is(';')) return parse_constant();
    }
    take();
    if (++depth_ > kDeepestNesting) fail("operands are nested too deeply");
    operand.kind = close == '}' ? ParsedOperand::Kind::vector : ParsedOperand::Kind::list;
    while (!peek().is(close)) {
      if (!operand.elements.empty()) expect(',', "between the elements of an operand");
      operand.elements.push_back(parse_simple_operand());
    }
    take();
    --depth_;
    return operand;
  }
  if (peek().is('!') && peek(1).kind == Token::Kind::word) {
    take();
    operand = parse_name();
    operand.negated = true;
    return operand;
  }
  if (peek().is('-') && peek(1).kind == Token::Kind::word) {
    take();
    operand = parse_name();
    operand.minus = true;
    return operand;
  }
  if (peek().kind == Token::Kind::word && !is_special(peek().text)) {
    operand = parse_name();
    if (operand.kind == ParsedOperand::Kind::variable || operand.kind == ParsedOperand::Kind::label) {
      while (peek().is('+') || peek().is('-')) {
        const bool minus = take().text == "-";
        const std::int64_t by = parse_integer("an offset");
        operand.integer += minus ? -by : by;
      }
    }
    return operand;
  }
  if (peek().kind == Token::Kind::word) return parse_name();
  if (at_constant()) return parse_constant();
  fail(fmt::format("expected an operand, found '{}'", peek().text));
}

ParsedOperand PtxParser::parse_address() {
  ParsedOperand address;
  address.kind = ParsedOperand::Kind::address;
  take();
  ParsedOperand base;
  if (peek().kind == Token::Kind::word) {
    base = parse_name();
  } else {
    base = parse_constant();
    if (base.kind != ParsedOperand::Kind::integer) fail("an address has to be an integer");
  }
  address.integer = base.kind == ParsedOperand::Kind::integer ? 0 : base.integer;
  address.elements.push_back(base);
  while (peek().is('+') || peek().is('-')) {
    const bool minus = take().text == "-";
    const std::int64_t by = parse_integer("an offset");
    address.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(address.integer) +
                                                (minus ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by)));
  }
  while (accept(',')) address.elements.push_back(parse_simple_operand());
  expect(']', "at the end of an address");
  return address;
}

// A register, a special register, a variable, or what may be a label or a function.
ParsedOperand PtxParser::parse_name() {
  ParsedOperand operand;
  const std::string_view name = expect_word("a name");
  operand.text = name;
  if (name == "_") return operand;
  if (const int found = find_register(name); found >= 0) {
    operand.kind = ParsedOperand::Kind::reg;
    operand.index = found;
    if (peek().kind == Token::Kind::dot_word)
      fail(fmt::format("parts of registers ('{}.{}') are not supported", name, peek().text));
    return operand;
  }
  if (is_special(name)) {
    operand.kind = ParsedOperand::Kind::special;
    if (peek().kind == Token::Kind::dot_word) {
      const std::string_view part = take().text;
      operand.text = std::string_view(name.data(), static_cast<std::size_t>(part.data() + part.size() - name.data()));
    }
    return operand;
  }
  if (name[0] == '%') fail(fmt::format("there is no register '{}'", name));
  if (const int variable = find_variable(name); variable >= 0) {
    operand.kind = ParsedOperand::Kind::variable;
    operand.index = variable;
    return operand;
  }
  operand.kind = ParsedOperand::Kind::label;
  operand.index = scope_;
  return operand;
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

bool PtxParser::at_constant() const {
  return peek().kind == Token::Kind::number || peek().is('-') || peek().is('+') || peek().is('~') || peek().is('!') ||
         peek().is('(');
}

std::int64_t PtxParser::parse_integer(std::string_view what) {
  if (!at_constant()) fail(fmt::format("expected {}, found '{}'", what, peek().text));
  const ParsedOperand value = parse_constant_unary();
  if (value.kind != ParsedOperand::Kind::integer) fail(fmt::format("expected {} as an integer", what));
  return value.integer;
}

ParsedOperand PtxParser::parse_constant(int least_precedence) {
  ParsedOperand left = parse_constant_unary();
  for (;;) {
    const int precedence = binary_precedence(peek(), peek(1));
    if (precedence == 0 || precedence <= least_precedence) return left;
    const char op = take().text[0];
    if (op == '<' || op == '>') take();
    const ParsedOperand right = parse_constant(precedence);
    if (left.kind != ParsedOperand::Kind::integer || right.kind != ParsedOperand::Kind::integer)
      fail("constants are combined as integers only");
    const auto a = static_cast<std::uint64_t>(left.integer);
    const auto b = static_cast<std::uint64_t>(right.integer);
    const bool overflows = left.integer == INT64_MIN && right.integer == -1;
    if ((op == '/' || op == '%') && (b == 0 || overflows)) fail("a constant is divided by zero");
    std::uint64_t value = 0;
    switch (op) {
      case '|':
        value = a | b;
        break;
      case '^':
        value = a ^ b;
        break;
      case '&':
        value = a & b;
        break;
      case '<':
        value = b < 64 ? a << b : 0;
        break;
      case '>':
        value = static_cast<std::uint64_t>(left.integer >> (b < 63 ? b : 63));
        break;
      case '+':
        value = a + b;
        break;
      case '-':
        value = a - b;
        break;
      case '*':
        value = a * b;
        break;
      case '/':
        value = static_cast<std::uint64_t>(left.integer / right.integer);
        break;
      default:
        value = static_cast<std::uint64_t>(left.integer % right.integer);
        break;
    }
    left.integer = static_cast<std::int64_t>(value);
  }
}

ParsedOperand PtxParser::parse_constant_unary() {
  ParsedOperand value;
  if (++depth_ > kDeepestNesting) fail("a constant is nested too deeply");
  if (peek().is('-') || peek().is('+') || peek().is('~') || peek().is('!')) {
    const char op = take().text[0];
    value = parse_constant_unary();
    if (op == '-') {
      value.integer = value.kind == ParsedOperand::Kind::single
                          ? value.integer ^ 0x80000000ll
                          : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value.integer));
      value.real = -value.real;
    } else if (op == '~') {
      value.integer = ~value.integer;
    } else if (op == '!') {
      value.integer = value.integer == 0 ? 1 : 0;
    }
  } else if (accept('(')) {
    if (peek().is_dot("s64") || peek().is_dot("u64")) {  // a cast
      take();
      expect(')', "after a cast");
      value = parse_constant_unary();
    } else {
      value = parse_constant();
      expect(')', "after a constant");
    }
  } else {
    if (peek().kind != Token::Kind::number) fail(fmt::format("expected a number, found '{}'", peek().text));
    std::string_view text = take().text;
    if (text.ends_with('U')) text.remove_suffix(1);
    value.kind = ParsedOperand::Kind::integer;
    const char code = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
    const bool real = code != 'x' && code != 'X' && code != 'f' && code != 'F' && code != 'd' && code != 'D' &&
                      text.find_first_of(".eE") != std::string_view::npos;
    if (real) {
      value.kind = ParsedOperand::Kind::real;
      value.real = std::strtod(std::string(text).c_str(), nullptr);
    } else {
      int base = 10;
      std::string_view digits = text;
      if (std::isalpha(static_cast<unsigned char>(code)) != 0) {
        base = code == 'b' || code == 'B' ? 2 : 16;
        digits.remove_prefix(2);
      } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
      }
      std::uint64_t bits = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, base);
      if (error != std::errc() || end != digits.data() + digits.size())
        fail(fmt::format("'{}' is no number of up to 64 bits", text));
      value.integer = static_cast<std::int64_t>(bits);
      if (code == 'f' || code == 'F') {
        if (digits.size() != 8) fail(fmt::format("'{}' has to have 8 digits", text));
        value.kind = ParsedOperand::Kind::single;
      } else if (code == 'd' || code == 'D') {
        if (digits.size() != 16) fail(fmt::format("'{}' has to have 16 digits", text));
        value.kind = ParsedOperand::Kind::real;
        std::memcpy(&value.real, &bits, 8);
      }
    }
  }
  --depth_;
  return value;
}

}  // namespace kw::vgpu
