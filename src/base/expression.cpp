#include "base/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::size_t kMaxLength = 1000;  // bounds the depth of the tree, hence of the recursion over it
constexpr int kMaxNesting = 100;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_whole(double number) { return std::abs(number) <= 9007199254740992.0 && number == std::trunc(number); }

}  // namespace

// Recursive descent, one function a level of binding.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> whole() {
    KW_TRY(const int root, either());
    (void)root;
    skip_blanks();
    if (at_ != text_.size()) return wrong(fmt::format("'{}' is not expected here", text_.substr(at_, 12)));
    std::sort(made_.names_.begin(), made_.names_.end());
    made_.names_.erase(std::unique(made_.names_.begin(), made_.names_.end()), made_.names_.end());
    made_.text_ = std::string(text_);
    return std::move(made_);
  }

 private:
  Error wrong(const std::string& what) const {
    return bad_input(fmt::format("expression '{}': {} (at character {})", text_, what, at_ + 1),
                     "write it with numbers, names, + - * / %, < <= > >= == !=, && || ! and parentheses");
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  // The first of these operators that stands next, taken; empty when none does.
  template <std::size_t N>
  std::string_view take(const std::array<std::string_view, N>& operators) {
    skip_blanks();
    for (const std::string_view candidate : operators)
      if (text_.substr(at_, candidate.size()) == candidate) {
        at_ += candidate.size();
        return candidate;
      }
    return {};
  }

  int add(Expression::Node node) {
    made_.nodes_.push_back(std::move(node));
    return static_cast<int>(made_.nodes_.size()) - 1;
  }
  int add(std::string_view operation, int left, int right) { return add({std::string(operation), 0, "", left, right}); }

  template <std::size_t N, typename Below>
  Result<int> chain(const std::array<std::string_view, N>& operators, Below below) {
    KW_TRY(int left, below());
    for (auto taken = take(operators); !taken.empty(); taken = take(operators)) {
      KW_TRY(const int right, below());
      left = add(taken, left, right);
    }
    return left;
  }

  Result<int> either() {
    if (++nesting_ > kMaxNesting) return wrong("it is nested too deeply");
    auto made = chain(std::array<std::string_view, 1>{"||"},
                      [this] { return chain(std::array<std::string_view, 1>{"&&"}, [this] { return comparison(); }); });
    --nesting_;
    return made;
  }

  Result<int> comparison() {
    static constexpr std::array<std::string_view, 6> kComparisons{"<=", ">=", "==", "!=", "<", ">"};
    KW_TRY(const int left, sum());
    const auto taken = take(kComparisons);
    if (taken.empty()) return left;
    KW_TRY(const int right, sum());
    if (!take(kComparisons).empty()) return wrong("comparisons cannot be chained: join two of them with &&");
    return add(taken, left, right);
  }

  Result<int> sum() {
    return chain(std::array<std::string_view, 2>{"+", "-"}, [this] {
      return chain(std::array<std::string_view, 3>{"*", "/", "%"}, [this] { return unary(); });
    });
  }

  Result<int> unary() {
    const auto taken = take(std::array<std::string_view, 3>{"-", "+", "!"});
    if (taken.empty()) return operand();
    if (++nesting_ > kMaxNesting) return wrong("it is nested too deeply");
    KW_TRY(const int inner, unary());
    --nesting_;
    return taken == "+" ? inner : add(taken == "-" ? "negative" : "not", inner, -1);
  }

  Result<int> operand() {
    skip_blanks();
    if (at_ == text_.size()) return wrong("something is missing at the end");
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      KW_TRY(const int inner, either());
      if (take(std::array<std::string_view, 1>{")"}).empty()) return wrong("a ')' is missing");
      return inner;
    }
    if (is_name_start(c)) {
      const std::size_t start = at_;
      while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
      std::string name(text_.substr(start, at_ - start));
      made_.names_.push_back(name);
      return add({"name", 0, std::move(name), -1, -1});
    }
    if (is_digit(c) || c == '.') return number();
    return wrong(fmt::format("a number or a name is missing before '{}'", c));
  }

  Result<int> number() {
    double read = 0;
    const char* const first = text_.data() + at_;
    const char* const last = text_.data() + text_.size();
    const auto [end, code] = std::from_chars(first, last, read);
    if (code != std::errc() || !std::isfinite(read)) return wrong("this is no number");
    if (end != last && (is_name_part(*end) || *end == '.')) return wrong("a number runs into what follows");
    at_ += static_cast<std::size_t>(end - first);
    return add({"number", read, "", -1, -1});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  Expression made_;
};

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kMaxLength)
    return bad_input(fmt::format("expression '{}...' has {} characters", text.substr(0, 40), text.size()),
                     fmt::format("at most {} are read: split it", kMaxLength));
  return ExpressionParser(text).whole();
}

Result<double> Expression::value(const std::map<std::string, double>& names, UnknownName unknown) const {
  if (nodes_.empty()) return internal_error("an expression that was never parsed has no value");
  return value_of(static_cast<int>(nodes_.size()) - 1, names, unknown, Quotient::exact);
}

Result<double> Expression::whole_value(const std::map<std::string, double>& names) const {
  if (nodes_.empty()) return internal_error("an expression that was never parsed has no value");
  KW_TRY(const double number, value_of(static_cast<int>(nodes_.size()) - 1, names, UnknownName::is_error, Quotient::cut_off));
  if (!is_whole(number)) return bad_input(fmt::format("expression '{}' is {}, no whole number", text_, number));
  return number;
}

Result<bool> Expression::holds(const std::map<std::string, double>& names, UnknownName unknown) const {
  KW_TRY(const double number, value(names, unknown));
  return number != 0;
}

Result<double> Expression::value_of(int node, const std::map<std::string, double>& names, UnknownName unknown,
                                    Quotient quotient) const {
  const Node& n = nodes_[static_cast<std::size_t>(node)];
  const std::string& op = n.operation;
  const auto wrong = [this](const std::string& what) { return bad_input(fmt::format("expression '{}': {}", text_, what)); };
  if (op == "number") return n.number;
  if (op == "name") {
    const auto found = names.find(n.name);
    if (found != names.end()) return found->second;
    if (unknown == UnknownName::is_zero) return 0.0;
    return wrong(fmt::format("nothing is called '{}'", n.name));
  }
  KW_TRY(const double left, value_of(n.left, names, unknown, quotient));
  if (op == "negative") return -left;
  if (op == "not") return left == 0 ? 1.0 : 0.0;
  if (op == "&&" && left == 0) return 0.0;
  if (op == "||" && left != 0) return 1.0;
  KW_TRY(const double right, value_of(n.right, names, unknown, quotient));
  if (op == "&&" || op == "||") return right != 0 ? 1.0 : 0.0;
  if (op == "<") return left < right ? 1.0 : 0.0;
  if (op == "<=") return left <= right ? 1.0 : 0.0;
  if (op == ">") return left > right ? 1.0 : 0.0;
  if (op == ">=") return left >= right ? 1.0 : 0.0;
  if (op == "==") return left == right ? 1.0 : 0.0;
  if (op == "!=") return left != right ? 1.0 : 0.0;
  double made = std::numeric_limits<double>::quiet_NaN();
  if (op == "+") made = left + right;
  if (op == "-") made = left - right;
  if (op == "*") made = left * right;
  if (op == "/") {
    if (right == 0) return wrong("division by zero");
    made = quotient == Quotient::cut_off ? std::trunc(left / right) : left / right;
  }
  if (op == "%") {
    if (!is_whole(left) || !is_whole(right)) return wrong(fmt::format("% takes whole numbers, not {} and {}", left, right));
    if (right == 0) return wrong("division by zero");
    made = std::fmod(left, right);
  }
  if (!std::isfinite(made)) return wrong(fmt::format("{} {} {} is no finite number", left, op, right));
  return made;
}

}  // namespace kw
