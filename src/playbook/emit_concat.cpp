// Elements of concatenations.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/emit.h"

namespace kw {

Expr Emitter::emit_concat(const Value& value, const Index& index) {
  const auto dim = static_cast<std::size_t>(value.dims[0]);
  const Range range = range_of(index[dim], ranges());
  std::vector<Joined> parts;
  std::int64_t end = 0;
  for (const ValueId operand : value.operands) {
    const std::int64_t size = graph_.shape(operand)[dim];
    end += size;
    if (range.high < end - size || range.low >= end) continue;
    Index inner = index;
    inner[dim] = index[dim] - Affine(end - size);
    if (range.low >= end - size && range.high < end) return emit(operand, inner);
    parts.push_back({operand, std::move(inner), end});
  }
  if (varies({index[dim]})) set_trouble("a seam within a vector");
  turn(index[dim]);
  Expr result;
  if (load_joined(parts, index[dim], result)) return result;
  for (Joined& part : parts) {
    const std::int64_t size = graph_.shape(part.operand)[dim];
    const std::string at = "(" + text(part.index[dim]) + ")";
    at_depth(depth_of({index[dim]}), [&] {
      part.index[dim] =
          Affine::variable(define("at", fmt::format("{0} < 0 ? 0 : {0} < {1} ? {0} : {1} - 1", at, size), {0, size - 1}));
    });
    const Expr element = emit(part.operand, part.index);
    const Expr inside{fmt::format("({} >= 0)", at), DType::boolean, false, depth_of(index)};
    result = &part == &parts.front() ? element : apply("where", {inside, element, result}, value.dtype);
  }
  return result;
}

// Networks join dozens of tensors: a load from each of them for every element would be most of the work. The pointer is chosen
// where the position along the seams is known, which is outside of the loops over rows.
bool Emitter::load_joined(const std::vector<Joined>& parts, const Affine& along, Expr& result) {
  if (!plain_pointers || parts.size() < 2 || !trouble_.empty()) return false;
  std::vector<Place> places;
  for (const Joined& part : parts) {
    const Place place = place_of(part.operand, part.index);
    if (!place.found || (!places.empty() && place.dtype != places[0].dtype)) return false;
    // Positions that were divided are right only within their operand, and these go past it.
    for (const auto& term : place.position.terms)
      if (std::ranges::none_of(part.index, [&](const Affine& each) { return each.coefficient(term.first) != 0; })) return false;
    places.push_back(place);
  }
  Affine common = places[0].position;  // to all of them; the rest belongs to the pointer
  common.constant = 0;
  std::erase_if(common.terms, [&](const auto& term) {
    return along.coefficient(term.first) != 0 ||
           std::ranges::any_of(places, [&](const Place& place) { return place.position.coefficient(term.first) != term.second; });
  });
  Index rests{along};
  for (const Place& place : places) rests.push_back(place.position - common);
  if (varies(rests)) return false;
  std::string choice;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i + 1 < places.size()) choice += fmt::format("{} < {} ? ", text(along), parts[i].end);
    choice += fmt::format("{} + ({})", places[i].pointer, text(rests[i + 1]));
    if (i + 1 < places.size()) choice += " : ";
  }
  std::string pointer;
  at_depth(depth_of(rests), [&] {
    Expr& known = scopes_.back().known["pointer " + choice];
    if (known.text.empty()) {
      known.text = unique("joined");
      line(fmt::format("const auto* const {} = {};", known.text, choice));
    }
    pointer = known.text;
  });
  result = load(pointer, common, places[0].dtype);
  const int where = std::max(result.depth, depth_of(rests));
  result = named_at(where, pointer + "_at", result.text, result.dtype, result.vector);
  return true;
}

}  // namespace kw
