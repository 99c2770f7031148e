// Index arithmetic for generated loops: whole numbers that depend linearly on loop variables. It knows no text and no tensors.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace kw {

using VarId = int;  // a loop variable or another integer of the generated code; its name and range are the Emitter's

// constant + sum of coefficient * variable. Terms with coefficient 0 are never kept, so that equal values compare equal.
struct Affine {
  std::map<VarId, std::int64_t> terms;
  std::int64_t constant = 0;

  Affine() = default;
  Affine(std::int64_t value) : constant(value) {}  // NOLINT: implicit on purpose
  static Affine variable(VarId var) {
    Affine result;
    result.terms[var] = 1;
    return result;
  }

  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] std::int64_t coefficient(VarId var) const {
    const auto found = terms.find(var);
    return found == terms.end() ? 0 : found->second;
  }
  bool operator==(const Affine&) const = default;
};

Affine operator+(const Affine& a, const Affine& b);
Affine operator-(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, std::int64_t factor);

using Index = std::vector<Affine>;  // one for each dimension of a value

// The inclusive range of values of a variable.
struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

// The range of an expression, given those of its variables.
Range range_of(const Affine& value, const std::vector<Range>& variables);

// a = quotient * divisor + rest with 0 <= rest < divisor.
struct Division {
  bool exact = false;  // false: quotient and rest are not affine in the variables of a
  Affine quotient;
  Affine rest;
};
Division divide(const Affine& a, std::int64_t divisor, const std::vector<Range>& variables);

// A division that only one variable decides: a / divisor is quotient + variable / parts, and what is left over is rest +
// variable % parts * step.
struct VariableDivision {
  VarId variable = -1;  // -1: there is none, or the division is exact without it
  std::int64_t parts = 1;
  std::int64_t step = 1;
  Affine quotient;
  Affine rest;
};
VariableDivision divide_variable(const Affine& a, std::int64_t divisor, const std::vector<Range>& variables);

// A variable that was taken apart into its quotient and its remainder by `parts`.
struct TakenApart {
  VarId whole = -1;
  VarId quotient = -1;
  VarId remainder = -1;
  std::int64_t parts = 1;
};
// With those put together again of which both halves are there in the right proportion.
Affine put_together(Affine value, const std::vector<TakenApart>& apart);

}  // namespace kw
