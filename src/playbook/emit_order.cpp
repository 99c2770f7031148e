// Sums whose terms are read in another order than they have in memory. g++ before 12.4 adds some of them twice (its bug 110381)
// where it unrolls the whole of such a loop and then makes vectors of the one around it: that is what their text prevents.
#include <algorithm>

#include "playbook/emit.h"

namespace kw {

void Emitter::turn(const Affine& position) {
  for (const auto& [var, coefficient] : position.terms) {
    variables_[static_cast<std::size_t>(var)].turned = true;
    if (const Variable part = variables_[static_cast<std::size_t>(var)]; part.divisor != 0) turn(part.dividend);
  }
}

void Emitter::note_order(const Affine& position) {
  for (const auto& [var, coefficient] : position.terms)
    if (coefficient < 0 || variables_[static_cast<std::size_t>(var)].divisor != 0) turn(Affine::variable(var));
}

bool Emitter::adds_terms_twice(const Scope& scope) const {
  const auto is_turned = [&](VarId id) {
    const Variable& var = variables_[static_cast<std::size_t>(id)];
    return var.summed && var.turned;
  };
  return !cuda && scope.header.starts_with("for (") && std::ranges::any_of(scope.variables, is_turned);
}

}  // namespace kw
