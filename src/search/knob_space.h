// The knobs of one kernel as a space of points, and which of them its constraints allow. What it hands out is always allowed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/expression.h"
#include "base/result.h"
#include "record/evaluation.h"
#include "record/kernel.h"

namespace kw {

using KnobPoint = std::vector<int>;  // of each knob, the position of its value

class KnobSpace {
 public:
  // Bad input: a constraint that cannot be read or names what is no knob, a knob whose values lack its default, or defaults that
  // break a constraint.
  static Result<KnobSpace> of(const Kernel& kernel);

  [[nodiscard]] bool empty() const { return knobs_.empty(); }
  [[nodiscard]] const std::vector<Knob>& knobs() const { return knobs_; }
  [[nodiscard]] double points() const;  // allowed or not
  [[nodiscard]] bool allows(const KnobPoint& point) const;
  [[nodiscard]] const KnobPoint& standard() const { return standard_; }

  // As a proposal has them: those that differ from the defaults.
  [[nodiscard]] KnobValues values(const KnobPoint& point) const;
  // The allowed point that takes over as many of these values as possible, in the order of the knobs; the rest is at its default.
  [[nodiscard]] KnobPoint nearest(const KnobValues& values) const;

  // One knob, one step.
  [[nodiscard]] std::vector<KnobPoint> neighbours(const KnobPoint& point) const;
  // All allowed points, or nothing when more than `most` points would have to be looked at.
  [[nodiscard]] std::optional<std::vector<KnobPoint>> all(double most) const;
  // Draws each knob's value by `below` (a number below its argument) until a point is allowed; nothing after many tries.
  [[nodiscard]] std::optional<KnobPoint> random(const std::function<int(int)>& below) const;

 private:
  [[nodiscard]] std::int64_t value(std::size_t knob, const KnobPoint& point) const;

  std::vector<Knob> knobs_;
  std::vector<Expression> constraints_;
  KnobPoint standard_;
};

}  // namespace kw
