#include "playbook/affine.h"

namespace kw {
namespace {

Affine combined(const Affine& a, const Affine& b, std::int64_t sign) {
  Affine result = a;
  result.constant += sign * b.constant;
  for (const auto& [var, coefficient] : b.terms) {
    auto& term = result.terms[var];
    term += sign * coefficient;
    if (term == 0) result.terms.erase(var);
  }
  return result;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

Affine operator+(const Affine& a, const Affine& b) { return combined(a, b, 1); }
Affine operator-(const Affine& a, const Affine& b) { return combined(a, b, -1); }

Affine operator*(const Affine& a, std::int64_t factor) {
  if (factor == 0) return {};
  Affine result = a;
  result.constant *= factor;
  for (auto& [var, coefficient] : result.terms) coefficient *= factor;
  return result;
}

Range range_of(const Affine& value, const std::vector<Range>& variables) {
  Range range{value.constant, value.constant};
  for (const auto& [var, coefficient] : value.terms) {
    const auto& of = variables.at(static_cast<std::size_t>(var));
    range.low += coefficient * (coefficient > 0 ? of.low : of.high);
    range.high += coefficient * (coefficient > 0 ? of.high : of.low);
  }
  return range;
}

Division divide(const Affine& a, std::int64_t divisor, const std::vector<Range>& variables) {
  Division result;
  if (divisor == 1) return {true, a, {}};
  for (const auto& [var, coefficient] : a.terms) {
    if (coefficient % divisor == 0) {
      result.quotient.terms[var] = coefficient / divisor;
    } else {
      result.rest.terms[var] = coefficient;
    }
  }
  const std::int64_t whole = floor_divide(a.constant, divisor);
  result.quotient.constant = whole;
  result.rest.constant = a.constant - whole * divisor;
  const Range rest = range_of(result.rest, variables);
  // A rest that lies within one multiple of the divisor has a quotient that never changes.
  const std::int64_t shift = floor_divide(rest.low, divisor);
  result.exact = floor_divide(rest.high, divisor) == shift;
  result.quotient.constant += shift;
  result.rest.constant -= shift * divisor;
  return result;
}

VariableDivision divide_variable(const Affine& a, std::int64_t divisor, const std::vector<Range>& variables) {
  const Division division = divide(a, divisor, variables);
  if (division.exact) return {};
  for (const auto& [var, step] : division.rest.terms) {
    if (step <= 0 || divisor % step != 0) continue;
    VariableDivision found{var, divisor / step, step, division.quotient, division.rest};
    found.rest.terms.erase(var);
    const Range rest = range_of(found.rest, variables);
    if (rest.low >= 0 && rest.high < step && variables[static_cast<std::size_t>(var)].low >= 0) return found;
  }
  return {};
}

Affine put_together(Affine value, const std::vector<TakenApart>& apart) {
  for (auto it = apart.rbegin(); it != apart.rend(); ++it) {  // those of a quotient come after those that it came from
    const std::int64_t step = value.coefficient(it->remainder);
    if (step == 0 || value.coefficient(it->quotient) != step * it->parts) continue;
    value = value + Affine::variable(it->whole) * step - Affine::variable(it->remainder) * step -
            Affine::variable(it->quotient) * (step * it->parts);
  }
  return value;
}

}  // namespace kw
