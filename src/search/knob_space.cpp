#include "search/knob_space.h"

#include <fmt/format.h>

#include <algorithm>

namespace kw {

Result<KnobSpace> KnobSpace::of(const Kernel& kernel) {
  KnobSpace space;
  space.knobs_ = kernel.knobs;
  for (const Knob& knob : kernel.knobs) {
    const auto found = std::find(knob.values.begin(), knob.values.end(), knob.standard);
    if (found == knob.values.end())
      return bad_input(fmt::format("knob {}: its default {} is not among its values", knob.name, knob.standard),
                       "list it in kw:knob");
    space.standard_.push_back(static_cast<int>(found - knob.values.begin()));
  }
  for (const std::string& text : kernel.constraints) {
    KW_TRY(Expression constraint, Expression::parse(text));
    for (const std::string& name : constraint.names())
      if (std::none_of(space.knobs_.begin(), space.knobs_.end(), [&](const Knob& knob) { return knob.name == name; }))
        return bad_input(fmt::format("constraint '{}': {} is no knob of the kernel", text, name), "declare it with kw:knob");
    space.constraints_.push_back(std::move(constraint));
  }
  if (!space.allows(space.standard_))
    return bad_input("the defaults of the kernel's knobs break one of its constraints", "change the defaults");
  return space;
}

std::int64_t KnobSpace::value(std::size_t knob, const KnobPoint& point) const {
  return knobs_[knob].values[static_cast<std::size_t>(point[knob])];
}

double KnobSpace::points() const {
  double points = 1;
  for (const Knob& knob : knobs_) points *= static_cast<double>(knob.values.size());
  return points;
}

bool KnobSpace::allows(const KnobPoint& point) const {
  std::map<std::string, double> names;
  for (std::size_t k = 0; k < knobs_.size(); ++k) names[knobs_[k].name] = static_cast<double>(value(k, point));
  return std::all_of(constraints_.begin(), constraints_.end(), [&](const Expression& constraint) {
    const auto holds = constraint.holds(names, UnknownName::is_error);
    return holds.ok() && *holds;  // what cannot be computed (a division by zero) is not allowed either
  });
}

KnobValues KnobSpace::values(const KnobPoint& point) const {
  KnobValues values;
  for (std::size_t k = 0; k < knobs_.size(); ++k)
    if (point[k] != standard_[k]) values[knobs_[k].name] = std::to_string(value(k, point));
  return values;
}

KnobPoint KnobSpace::nearest(const KnobValues& values) const {
  // Two knobs may be allowed only if both are turned: everything at once comes first.
  KnobPoint wanted = standard_;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    const auto given = values.find(knobs_[k].name);
    if (given == values.end()) continue;
    for (std::size_t v = 0; v < knobs_[k].values.size(); ++v)
      if (std::to_string(knobs_[k].values[v]) == given->second) wanted[k] = static_cast<int>(v);
  }
  if (allows(wanted)) return wanted;
  KnobPoint point = standard_;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    KnobPoint turned = point;
    turned[k] = wanted[k];
    if (allows(turned)) point = std::move(turned);
  }
  return point;
}

std::vector<KnobPoint> KnobSpace::neighbours(const KnobPoint& point) const {
  std::vector<KnobPoint> found;
  for (std::size_t k = 0; k < knobs_.size(); ++k)
    for (const int step : {1, -1}) {
      KnobPoint moved = point;
      moved[k] += step;
      if (moved[k] >= 0 && moved[k] < static_cast<int>(knobs_[k].values.size()) && allows(moved)) found.push_back(std::move(moved));
    }
  return found;
}

std::optional<std::vector<KnobPoint>> KnobSpace::all(double most) const {
  if (points() > most) return std::nullopt;
  std::vector<KnobPoint> found;
  KnobPoint point(knobs_.size(), 0);
  for (;;) {
    if (allows(point)) found.push_back(point);
    std::size_t k = 0;
    while (k < knobs_.size() && ++point[k] == static_cast<int>(knobs_[k].values.size())) point[k++] = 0;
    if (k == knobs_.size()) return found;
  }
}

std::optional<KnobPoint> KnobSpace::random(const std::function<int(int)>& below) const {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    KnobPoint point;
    for (const Knob& knob : knobs_) point.push_back(below(static_cast<int>(knob.values.size())));
    if (allows(point)) return point;
  }
  return std::nullopt;
}

}  // namespace kw
