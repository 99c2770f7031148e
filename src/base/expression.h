// Small arithmetic over named numbers: "row_elements >= 64", "KW_MR * KW_NR <= 96 && KW_MC % KW_MR == 0".
// Pure and total: whatever the text, the outcome is a number or an error; nothing is called, nothing is assigned.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw {

// What a name stands for that nobody gave a number.
enum class UnknownName { is_zero, is_error };

class Expression {
 public:
  // Numbers, names, parentheses and, from the weakest: ||, &&, one of < <= > >= == !=, + -, * / %, unary - + !.
  static Result<Expression> parse(std::string_view text);

  // Comparisons and logic give 1 or 0. The right side of && and || counts only where it decides. Division by zero, % of anything
  // but whole numbers and results that are no finite number are errors.
  [[nodiscard]] Result<double> value(const std::map<std::string, double>& names, UnknownName unknown) const;
  // As C reckons with integers: a quotient is cut off behind the point. Unknown names are errors.
  [[nodiscard]] Result<double> whole_value(const std::map<std::string, double>& names) const;
  // Whether the value is not 0.
  [[nodiscard]] Result<bool> holds(const std::map<std::string, double>& names, UnknownName unknown) const;

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }  // that occur, each once, sorted
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  struct Node {
    std::string operation;  // "number", "name", or an operator; unary ones have no right side
    double number = 0;
    std::string name;
    int left = -1, right = -1;
  };
  enum class Quotient { exact, cut_off };
  [[nodiscard]] Result<double> value_of(int node, const std::map<std::string, double>& names, UnknownName unknown,
                                        Quotient quotient) const;

  std::string text_;
  std::vector<Node> nodes_;  // the last one is the whole
  std::vector<std::string> names_;
};

}  // namespace kw
