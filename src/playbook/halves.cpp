#include "playbook/halves.h"

#include <algorithm>

namespace kw {
namespace {

class Widening {
 public:
  explicit Widening(const Graph& source) : source_(source) {}

  WidenedGraph run(const std::vector<ValueId>& outputs) {
    for (ValueId id = 0; id < source_.size(); ++id) {
      const Value& value = source_.at(id);
      result_.graph.set_origin(value.origin);
      made_.push_back(is_16_bit(value.dtype) ? of_16_bits(value) : Made{-1, copy_of(value)});
    }
    for (const ValueId output : outputs) {
      const Made& made = made_.at(static_cast<std::size_t>(output));
      result_.graph.set_origin(source_.at(output).origin);
      const bool as_it_is = made.narrow >= 0 || !is_16_bit(source_.dtype(output));
      result_.outputs.push_back(as_it_is ? (made.narrow >= 0 ? made.narrow : made.wide)
                                         : result_.graph.cast(made.wide, source_.dtype(output)));
    }
    return std::move(result_);
  }

 private:
  struct Made {
    ValueId narrow = -1;  // in the source's 16 bits, exactly; -1: it is not in memory like that
    ValueId wide = -1;    // as it is computed with; of other types the value itself
  };

  [[nodiscard]] const Made& made(ValueId id) const { return made_[static_cast<std::size_t>(id)]; }

  ValueId copy_of(const Value& value) {
    if (value.kind == ValueKind::pointwise && value.fn == "cast" && value.name.empty())
      return result_.graph.cast(made(value.operands[0]).wide, value.dtype);
    Value copy = value;
    for (ValueId& operand : copy.operands) operand = made(operand).wide;
    return result_.graph.add(std::move(copy));
  }

  Made from(ValueId narrow) { return {narrow, result_.graph.cast(narrow, DType::f32)}; }

  Made of_16_bits(const Value& value) {
    Graph& graph = result_.graph;
    switch (value.kind) {
      case ValueKind::argument:
      case ValueKind::scalar:
        return from(graph.add(value));
      case ValueKind::constant:
        return {graph.add(value), graph.constant(value.number)};
      case ValueKind::view:
      case ValueKind::reshape:
      case ValueKind::pad:
      case ValueKind::concat:
      case ValueKind::gather:
        return moved(value);
      case ValueKind::pointwise:
        if (value.fn == "cast" && value.name.empty()) return rounded(value);
        return {-1, computed(value)};
      default:
        return {-1, computed(value)};
    }
  }

  // What only moves numbers moves them as they are in memory, where all of them are in memory.
  Made moved(const Value& value) {
    const bool in_memory = std::ranges::all_of(
        value.operands, [&](ValueId operand) { return !is_16_bit(source_.dtype(operand)) || made(operand).narrow >= 0; });
    if (!in_memory) return {-1, computed(value)};
    Value copy = value;
    for (ValueId& operand : copy.operands) operand = is_16_bit(source_.dtype(operand)) ? made(operand).narrow : made(operand).wide;
    const ValueId narrow = result_.graph.add(std::move(copy));
    if (const Value* number = constant_behind(result_.graph, narrow))
      return {narrow, result_.graph.expand(result_.graph.constant(number->number), value.shape)};
    return from(narrow);
  }

  // What forward() rounds stays rounded. A boolean and a byte lose nothing in 16 bits.
  Made rounded(const Value& value) {
    const ValueId operand = made(value.operands[0]).wide;
    const DType from_type = source_.dtype(value.operands[0]);
    const bool exact = from_type == DType::boolean || from_type == DType::i8 || from_type == DType::u8;
    if (exact) return {-1, result_.graph.cast(operand, DType::f32)};
    return from(result_.graph.cast(operand, value.dtype));
  }

  ValueId computed(const Value& value) {
    Value copy = value;
    copy.dtype = DType::f32;
    if (value.kind == ValueKind::product && source_.dtype(value.operands[0]) == source_.dtype(value.operands[1]))
      copy.factors = value.dtype;
    for (ValueId& operand : copy.operands) operand = made(operand).wide;
    return result_.graph.add(std::move(copy));
  }

  const Graph& source_;
  WidenedGraph result_;
  std::vector<Made> made_;
};

}  // namespace

WidenedGraph widened(const Graph& graph, const std::vector<ValueId>& outputs) { return Widening(graph).run(outputs); }

DType factor_type(const Graph& graph, ValueId product) {
  const Value& value = graph.at(product);
  if (is_16_bit(value.factors)) return value.factors;
  const DType left = graph.dtype(behind_widening(graph, value.operands[0]));
  const DType right = graph.dtype(behind_widening(graph, value.operands[1]));
  return left == right && is_16_bit(left) ? left : value.dtype;
}

std::map<ValueId, DType> factors_of_16_bits(const Graph& graph, const std::set<ValueId>& needed) {
  std::map<ValueId, DType> factors;
  for (const ValueId id : needed) {
    const Value& value = graph.at(id);
    if (value.kind != ValueKind::product || !is_16_bit(value.factors)) continue;
    for (const ValueId operand : value.operands)
      if (const ValueId base = behind_views(graph, operand); graph.dtype(base) == DType::f32) factors[base] = value.factors;
  }
  return factors;
}

bool rounds_to_16_bits(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  return value.kind == ValueKind::pointwise && value.fn == "cast" && is_16_bit(value.dtype) &&
         graph.dtype(value.operands[0]) == DType::f32;
}

ValueId behind_widening(const Graph& graph, ValueId factor) {
  const Value& value = graph.at(factor);
  const bool widening = value.kind == ValueKind::pointwise && value.fn == "cast" && value.dtype == DType::f32;
  return widening && is_16_bit(graph.dtype(value.operands[0])) ? value.operands[0] : factor;
}

}  // namespace kw
