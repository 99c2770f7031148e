// The parser of PTX, for ptx_parser.cpp (directives) and ptx_statements.cpp (bodies of functions); nothing else includes it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/ptx_lexer.h"
#include "vgpu/ptx_module.h"

namespace kw::vgpu {

inline constexpr int kDeepestNesting = 200;  // of blocks and of parentheses

// Thrown within the parser alone; parse_ptx makes an Error of it.
struct PtxSyntaxError {
  int line;
  std::string what;
};

class PtxParser {
 public:
  PtxParser(std::vector<Token> tokens, ParsedModule& module) : tokens_(std::move(tokens)), module_(module) {}
  void parse_module();

 private:
  struct RegisterRange {
    std::string_view prefix;
    int count = 0, first = 0;
  };
  // Names of a block in braces. Labels too: the same inline assembly may stand in a function many times.
  struct Scope {
    int parent = -1;
    std::unordered_map<std::string_view, int> registers, variables, labels;
    std::vector<RegisterRange> ranges;
  };
  struct PendingLabels {
    std::string_view name;
    std::vector<std::string_view> targets;
    int scope = 0, line = 0;
  };

  // tokens
  [[nodiscard]] const Token& peek(int ahead = 0) const;
  Token take();
  bool accept(char c);
  bool accept_dot(std::string_view name);
  void expect(char c, std::string_view where);
  std::string_view expect_word(std::string_view what);
  [[noreturn]] void fail(const std::string& what) const;
  void skip_to_semicolon();

  // directives
  void parse_function(bool external);
  void parse_performance_directive(ParsedFunction& function);
  void parse_three(std::uint32_t (&values)[3]);
  ParsedVariable parse_variable(Space space, bool external);
  void parse_initial(ParsedVariable& variable, int element_bytes);
  void parse_initial_item(ParsedVariable& variable, std::size_t& offset, int element_bytes);
  std::vector<ParsedVariable> parse_parameters();
  void declare(ParsedVariable variable);
  void parse_file();
  void parse_loc();
  void skip_section();
  bool parse_common_directive();  // .file, .loc, .section, .pragma: those that stand anywhere

  // bodies
  void parse_body(ParsedFunction& function);
  void parse_block();
  void parse_registers();
  void parse_statement();
  void parse_instruction();
  void parse_labelled(std::string_view label);
  ParsedOperand parse_operand();
  ParsedOperand parse_simple_operand();
  ParsedOperand parse_address();
  ParsedOperand parse_name();
  void resolve_labels(ParsedOperand& operand, int line);
  int find_label(std::string_view name, int scope) const;
  int find_register(std::string_view name) const;
  int find_variable(std::string_view name) const;

  // expressions of constants
  ParsedOperand parse_constant(int least_precedence = 0);
  ParsedOperand parse_constant_unary();
  std::int64_t parse_integer(std::string_view what);
  [[nodiscard]] bool at_constant() const;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  ParsedModule& module_;
  ParsedFunction* function_ = nullptr;
  std::vector<Scope> scopes_;
  int scope_ = -1;
  int source_ = -1;
  int depth_ = 0;
  std::vector<PendingLabels> pending_targets_;
};

}  // namespace kw::vgpu
