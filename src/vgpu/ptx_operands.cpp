// Operands of instructions and expressions of constants.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>

#include "vgpu/ptx_parser_state.h"

namespace kw::vgpu {
namespace {

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
