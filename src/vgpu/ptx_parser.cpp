#include "vgpu/ptx_parser.h"

#include <fmt/format.h>

#include <cstring>

#include "vgpu/ptx_parser_state.h"

namespace kw::vgpu {
namespace {

constexpr std::uint64_t kLargestVariable = 1ull << 32;

Space space_of_directive(std::string_view name) {
  if (name == "global") return Space::global;
  if (name == "const") return Space::constant;
  if (name == "shared") return Space::shared;
  if (name == "local") return Space::local;
  if (name == "param") return Space::param;
  return Space::generic;
}

}  // namespace

const Token& PtxParser::peek(int ahead) const {
  const std::size_t at = at_ + static_cast<std::size_t>(ahead);
  return at < tokens_.size() ? tokens_[at] : tokens_.back();
}

Token PtxParser::take() {
  const Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool PtxParser::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

bool PtxParser::accept_dot(std::string_view name) {
  if (!peek().is_dot(name)) return false;
  take();
  return true;
}

void PtxParser::fail(const std::string& what) const { throw PtxSyntaxError{peek().line, what}; }

void PtxParser::expect(char c, std::string_view where) {
  if (!accept(c)) fail(fmt::format("expected '{}' {}, found '{}'", c, where, peek().text));
}

std::string_view PtxParser::expect_word(std::string_view what) {
  if (peek().kind != Token::Kind::word) fail(fmt::format("expected {}, found '{}'", what, peek().text));
  return take().text;
}

void PtxParser::skip_to_semicolon() {
  while (!peek().is(';') && peek().kind != Token::Kind::end) take();
  expect(';', "at the end of a directive");
}

void PtxParser::parse_file() {
  const int number = static_cast<int>(parse_integer("a file's number"));
  if (peek().kind != Token::Kind::string) fail("expected a file's name in quotes");
  module_.files[number] = std::string(take().text);
  while (accept(',')) take();
}

void PtxParser::parse_loc() {
  SourceLine own;
  own.file = static_cast<int>(parse_integer("a file's number"));
  own.line = static_cast<int>(parse_integer("a line"));
  if (peek().kind == Token::Kind::number) take();
  while (accept(',')) {
    if (peek().kind == Token::Kind::word && peek().text == "inlined_at") {
      take();
      own.outer_file = static_cast<int>(parse_integer("a file's number"));
      own.outer_line = static_cast<int>(parse_integer("a line"));
      if (peek().kind == Token::Kind::number) take();
    } else {
      take();  // function_name
      expect_word("a label");
      if (accept('+')) parse_integer("an offset");
    }
  }
  module_.source_lines.push_back(own);
  source_ = static_cast<int>(module_.source_lines.size()) - 1;
}

void PtxParser::skip_section() {
  take();  // its name
  expect('{', "after a section's name");
  int depth = 1;
  while (depth > 0) {
    if (peek().kind == Token::Kind::end) fail("a section is not closed");
    if (peek().is('{')) ++depth;
    if (peek().is('}')) --depth;
    take();
  }
}

bool PtxParser::parse_common_directive() {
  if (accept_dot("file")) {
    parse_file();
  } else if (accept_dot("loc")) {
    parse_loc();
  } else if (accept_dot("section")) {
    skip_section();
  } else if (accept_dot("pragma")) {
    skip_to_semicolon();
  } else {
    return false;
  }
  return true;
}

void PtxParser::parse_module() {
  bool external = false;
  while (peek().kind != Token::Kind::end) {
    if (parse_common_directive()) continue;
    if (accept(';')) continue;
    const Token token = peek();
    if (token.kind != Token::Kind::dot_word) fail(fmt::format("expected a directive, found '{}'", token.text));
    if (accept_dot("version")) {
      const std::string_view version = take().text;
      const std::size_t dot = version.find('.');
      module_.version = version[0] == '\0' ? 0 : (version[0] - '0') * 10 + (dot + 1 < version.size() ? version[dot + 1] - '0' : 0);
    } else if (accept_dot("target")) {
      module_.target = std::string(expect_word("a target"));
      while (accept(',')) take();
    } else if (accept_dot("address_size")) {
      if (parse_integer("an address size") != 64) fail("the address size has to be 64");
    } else if (accept_dot("extern")) {
      external = true;
    } else if (accept_dot("visible") || accept_dot("weak") || accept_dot("common")) {
    } else if (accept_dot("alias")) {
      const std::string name(expect_word("an alias"));
      expect(',', "in .alias");
      module_.aliases[name] = std::string(expect_word("a function"));
      expect(';', "after .alias");
    } else if (peek().is_dot("entry") || peek().is_dot("func")) {
      parse_function(external);
      external = false;
    } else if (const Space space = space_of_directive(token.text); space != Space::generic) {
      take();
      do {
        declare(parse_variable(space, external));
      } while (accept(','));
      expect(';', "after a variable");
      external = false;
    } else {
      fail(fmt::format("the directive .{} is not known here", token.text));
    }
  }
}

// [.align n] [.v2|.v4] .type name[[n]]... [= initial]; the space was taken.
ParsedVariable PtxParser::parse_variable(Space space, bool external) {
  ParsedVariable variable;
  variable.space = space;
  variable.external = external;
  variable.line = peek().line;
  int vector = 1;
  bool typed = false;
  while (peek().kind == Token::Kind::dot_word) {
    const std::string_view word = take().text;
    if (word == "align") {
      variable.align = static_cast<std::uint32_t>(parse_integer("an alignment"));
      if (variable.align == 0 || (variable.align & (variable.align - 1)) != 0 || variable.align > 65536) {
        fail(fmt::format("an alignment of {} is no power of two up to 65536", variable.align));
      }
    } else if (word == "attribute") {
      expect('(', "after .attribute");
      while (!accept(')')) {
        if (take().kind == Token::Kind::end) fail(".attribute is not closed");
      }
    } else if (word == "v2" || word == "v4" || word == "v8") {
      vector = word[1] - '0';
    } else if (word == "ptr") {
      while (peek().is_dot("global") || peek().is_dot("shared") || peek().is_dot("const") || peek().is_dot("local") ||
             peek().is_dot("generic")) {
        take();
      }
      if (accept_dot("align")) parse_integer("an alignment");  // of what it points to
    } else if (word == "texref" || word == "samplerref" || word == "surfref") {
      fail(fmt::format("textures and surfaces (.{}) are not supported", word));
    } else {
      variable.type = type_named(word);
      if (variable.type == Type::none) fail(fmt::format("'.{}' is no type", word));
      typed = true;
    }
  }
  if (!typed) fail("a variable has no type");
  variable.name = std::string(expect_word("a variable's name"));
  const int element = std::max(1, type_bits(variable.type) / 8) * vector;
  variable.align = std::max(variable.align, static_cast<std::uint32_t>(element));
  std::uint64_t count = 1;
  bool array_bounded = true;
  if (accept('<')) {  // name<n>: n variables; only registers use it in practice
    fail("a numbered family of variables is known for registers only");
  }
  while (accept('[')) {
    if (accept(']')) {
      array_bounded = false;
      continue;
    }
    const std::int64_t n = parse_integer("an array's size");
    if (n < 0 || static_cast<std::uint64_t>(n) > kLargestVariable) fail(fmt::format("an array of {} elements", n));
    count *= static_cast<std::uint64_t>(n);
    if (count > kLargestVariable) fail("an array is larger than 4 GiB");
    expect(']', "after an array's size");
  }
  variable.bytes = array_bounded ? count * static_cast<std::uint64_t>(element) : 0;
  if (accept('=')) parse_initial(variable, std::max(1, type_bits(variable.type) / 8));
  return variable;
}

void PtxParser::parse_initial(ParsedVariable& variable, int element_bytes) {
  std::size_t offset = 0;
  if (!peek().is('{')) {
    parse_initial_item(variable, offset, element_bytes);
  } else {
    int depth = 0;
    do {
      if (accept('{')) {
        ++depth;
      } else if (accept('}')) {
        --depth;
      } else if (!accept(',')) {
        parse_initial_item(variable, offset, element_bytes);
      }
    } while (depth > 0);
  }
  if (variable.bytes == 0) variable.bytes = offset;
  if (offset > variable.bytes)
    fail(fmt::format("'{}' has {} bytes of initial values for {} bytes", variable.name, offset, variable.bytes));
}

void PtxParser::parse_initial_item(ParsedVariable& variable, std::size_t& offset, int element_bytes) {
  const auto width = static_cast<std::size_t>(element_bytes);
  variable.initial.resize(offset + width);
  ParsedVariable::Address address;
  address.offset = offset;
  address.bytes = element_bytes;
  std::uint64_t bits = 0;
  if (peek().kind == Token::Kind::word) {
    const bool generic = peek().text == "generic" && peek(1).is('(');
    if (generic) {
      take();
      take();
    }
    address.symbol = std::string(expect_word("a symbol"));
    if (generic) expect(')', "after generic(");
    while (peek().is('+') || peek().is('-')) {
      const bool minus = take().text == "-";
      const std::int64_t by = parse_integer("an offset");
      address.addend += minus ? -by : by;
    }
    variable.addresses.push_back(address);
  } else {
    const ParsedOperand value = parse_constant();
    if (accept('(')) {  // mask(symbol)
      const auto mask = static_cast<std::uint64_t>(value.integer);
      while (address.shift < 56 && ((mask >> address.shift) & 1) == 0) address.shift += 8;
      if (peek().text == "generic") {
        take();
        expect('(', "after generic");
        address.symbol = std::string(expect_word("a symbol"));
        expect(')', "after generic(");
      } else {
        address.symbol = std::string(expect_word("a symbol"));
      }
      while (peek().is('+') || peek().is('-')) {
        const bool minus = take().text == "-";
        const std::int64_t by = parse_integer("an offset");
        address.addend += minus ? -by : by;
      }
      expect(')', "after a symbol");
      variable.addresses.push_back(address);
    } else if (variable.type == Type::f64) {
      const double real = value.kind == ParsedOperand::Kind::real ? value.real : static_cast<double>(value.integer);
      std::memcpy(&bits, &real, 8);
    } else if (variable.type == Type::f32 && value.kind != ParsedOperand::Kind::single) {
      const float real =
          value.kind == ParsedOperand::Kind::real ? static_cast<float>(value.real) : static_cast<float>(value.integer);
      std::memcpy(&bits, &real, 4);
    } else {
      bits = static_cast<std::uint64_t>(value.integer);
    }
  }
  std::memcpy(variable.initial.data() + offset, &bits, std::min<std::size_t>(width, 8));
  offset += width;
}

void PtxParser::declare(ParsedVariable variable) {
  const auto found = module_.variable_index.find(variable.name);
  if (found != module_.variable_index.end()) {
    ParsedVariable& old = module_.variables[static_cast<std::size_t>(found->second)];
    if (!old.external && !variable.external) fail(fmt::format("'{}' is declared twice", variable.name));
    if (old.external) old = std::move(variable);
    return;
  }
  module_.variable_index[variable.name] = static_cast<int>(module_.variables.size());
  module_.variables.push_back(std::move(variable));
}

std::vector<ParsedVariable> PtxParser::parse_parameters() {
  std::vector<ParsedVariable> parameters;
  expect('(', "before parameters");
  while (!accept(')')) {
    if (!parameters.empty()) expect(',', "between parameters");
    if (accept_dot("param") || accept_dot("reg")) {
      parameters.push_back(parse_variable(Space::param, false));
    } else {
      fail(fmt::format("expected a parameter, found '{}'", peek().text));
    }
  }
  return parameters;
}

void PtxParser::parse_three(std::uint32_t (&values)[3]) {
  values[1] = values[2] = 1;
  int at = 0;
  do {
    values[at++] = static_cast<std::uint32_t>(parse_integer("a number of threads"));
  } while (at < 3 && accept(','));
}

void PtxParser::parse_performance_directive(ParsedFunction& function) {
  const std::string_view word = take().text;
  if (word == "maxntid") {
    parse_three(function.max_threads);
  } else if (word == "reqntid") {
    parse_three(function.required_threads);
  } else if (word == "reqnctapercluster") {
    parse_three(function.cluster);
  } else if (word == "minnctapersm" || word == "maxnctapersm" || word == "maxnreg" || word == "maxclusterrank" ||
             word == "abi_preserve" || word == "abi_preserve_control") {
    parse_integer("a number");
  } else if (word == "pragma") {
    skip_to_semicolon();
  } else if (word == "attribute") {
    expect('(', "after .attribute");
    while (!accept(')')) {
      if (take().kind == Token::Kind::end) fail(".attribute is not closed");
    }
  } else if (word != "noreturn" && word != "explicitcluster" && word != "blocksareclusters") {
    fail(fmt::format("the directive .{} is not known for a function", word));
  }
}

void PtxParser::parse_function(bool external) {
  ParsedFunction function;
  function.entry = take().text == "entry";
  function.line = peek().line;
  while (accept_dot("attribute")) {
    expect('(', "after .attribute");
    while (!accept(')')) {
      if (take().kind == Token::Kind::end) fail(".attribute is not closed");
    }
  }
  if (peek().is('(')) function.results = parse_parameters();
  function.name = std::string(expect_word("a function's name"));
  if (peek().is('(')) function.params = parse_parameters();
  while (peek().kind == Token::Kind::dot_word) parse_performance_directive(function);
  function.defined = peek().is('{');
  if (function.defined) {
    source_ = -1;
    parse_body(function);
  } else {
    accept(';');
  }
  (void)external;
  const auto found = module_.function_index.find(function.name);
  if (found == module_.function_index.end()) {
    module_.function_index[function.name] = static_cast<int>(module_.functions.size());
    module_.functions.push_back(std::move(function));
  } else if (function.defined) {
    ParsedFunction& old = module_.functions[static_cast<std::size_t>(found->second)];
    if (old.defined) fail(fmt::format("the function '{}' is defined twice", function.name));
    old = std::move(function);
  }
}

namespace {

// A line within the toolkit's own headers tells a user less than the line of theirs that it was inlined at.
void prefer_lines_of_users(ParsedModule& module) {
  std::map<int, bool> of_toolkit;
  for (const auto& [number, file] : module.files) {
    of_toolkit[number] = file.find("/targets/") != std::string::npos || file.find("cuda/") != std::string::npos ||
                         file.find("/cuda") != std::string::npos || file.find("/crt/") != std::string::npos ||
                         file.find("triton/language/") != std::string::npos;
  }
  for (SourceLine& line : module.source_lines) {
    if (line.outer_line > 0 && of_toolkit[line.file]) {
      line.file = line.outer_file;
      line.line = line.outer_line;
    }
  }
}

}  // namespace

Result<std::unique_ptr<ParsedModule>> parse_ptx(std::string text) {
  auto module = std::make_unique<ParsedModule>();
  module->text = std::move(text);
  KW_TRY(std::vector<Token> tokens, lex_ptx(module->text));
  try {
    PtxParser(std::move(tokens), *module).parse_module();
    prefer_lines_of_users(*module);
  } catch (const PtxSyntaxError& error) {
    return bad_input(fmt::format("PTX line {}: {}", error.line, error.what));
  }
  if (module->version == 0) return bad_input("the text has no .version: it is no PTX", "give the text that nvcc -ptx writes");
  return module;
}

}  // namespace kw::vgpu
