// Values whose elements need a loop, or only count in some places, in Python DSLs: each lane, or thread, does its own.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/py_emit.h"

namespace kw {
namespace {

// Past this many terms in one running float sum the error would show beside that of PyTorch's blocked sums.
constexpr std::int64_t kLongPySum = 256;
constexpr std::size_t kLongestTable = 64;

bool adds_up(const std::string& fn) { return fn == "sum" || fn == "prod"; }
}  // namespace

PyExpr PyEmitter::guarded(const std::vector<std::string>& conditions, const std::function<PyExpr()>& write) {
  const auto before = guards_.size();
  guards_.insert(guards_.end(), conditions.begin(), conditions.end());
  PyExpr result = write();
  guards_.resize(before);
  return result;
}

PyExpr PyEmitter::emit_reduce(const Value& value, const Index& index) {
  PyExpr result;
  const int at = guards_.empty() ? depth_of(index) : depth();
  at_depth(at, [&] {
    Shape sizes;
    for (const int d : value.dims) sizes.push_back(graph.shape(value.operands[0])[static_cast<std::size_t>(d)]);
    const bool wide = adds_up(value.fn) && is_floating(value.dtype) && numel(sizes) > kLongPySum;
    const DType type = wide ? DType::f64 : is_16_bit(value.dtype) ? DType::f32 : value.dtype;
    const bool block = is_block(index);
    const std::string acc = accumulator(value.fn + "_", type, identity(value.fn, type), block);
    Index reduced;
    for (const auto size : sizes) reduced.push_back(Affine::variable(open_loop("k", size)));
    const PyExpr next = converted(emit(value.operands[0], operand_index(value, index, reduced)), type);
    assign(acc, combine(value.fn, {acc, type, block, depth()}, next).text);
    for (std::size_t i = 0; i < sizes.size(); ++i) close();
    result = converted({acc, type, block, at}, value.dtype);
  });
  return named_at(at, "total", result);
}

PyExpr PyEmitter::emit_arg_reduce(const Value& value, const Index& index) {
  PyExpr result;
  const int at = guards_.empty() ? depth_of(index) : depth();
  at_depth(at, [&] {
    const auto dim = static_cast<std::size_t>(value.dims[0]);
    const DType dtype = is_16_bit(graph.dtype(value.operands[0])) ? DType::f32 : graph.dtype(value.operands[0]);
    const bool block = is_block(index);
    const std::string best = accumulator("best", dtype, identity(value.fn, dtype), block);
    const std::string place = accumulator("place", DType::i64, number(-1, DType::i64), block);
    const VarId k = open_loop("k", graph.shape(value.operands[0])[dim]);
    Index inner = index;
    inner.insert(inner.begin() + static_cast<std::ptrdiff_t>(dim), Affine::variable(k));
    const PyExpr next = named_at(depth(), "next", emit(value.operands[0], inner));
    const char* order = value.fn == "max" ? ">" : "<";
    const bool triton = dialect == PyDialect::triton;
    std::string better = triton ? fmt::format("({} < 0) | ({} {} {})", place, next.text, order, best)
                                : fmt::format("T.Or({} < 0, {} {} {})", place, next.text, order, best);
    if (is_floating(dtype))  // the first NaN wins
      better = triton ? fmt::format("{0} | (({1} != {1}) & ({2} == {2}))", better, next.text, best)
                      : fmt::format("T.Or({0}, T.And({1} != {1}, {2} == {2}))", better, next.text, best);
    const PyExpr chosen = named_at(depth(), "better", {better, DType::boolean, block, depth()});
    const PyExpr position{triton ? fmt::format("{}.to(tl.int64)", name(k)) : fmt::format("T.cast({}, 'int64')", name(k)),
                          DType::i64, false, depth()};
    const std::string new_best = apply("where", {chosen, next, {best, dtype, block, depth()}}, dtype).text;
    const std::string new_place = triton ? fmt::format("tl.where({}, {}, {})", chosen.text, name(k), place)
                                         : apply("where", {chosen, position, {place, DType::i64, block, depth()}}, DType::i64).text;
    assign(place, new_place);
    assign(best, new_best);
    close();
    result = {place, DType::i64, block, at};
  });
  return named_at(at, "at", result);
}

PyExpr PyEmitter::emit_window(const Value& value, const Index& index) {
  PyExpr result;
  const int at = guards_.empty() ? depth_of(index) : depth();
  at_depth(at, [&] {
    const Shape& shape = graph.shape(value.operands[0]);
    const DType type = value.fn == "sum" && is_floating(value.dtype) ? DType::f64
                       : is_16_bit(value.dtype)                      ? DType::f32
                                                                     : value.dtype;
    const bool block = is_block(index);
    const std::string acc = accumulator("window", type, identity(value.fn, type), block);
    Index inner;
    std::vector<std::string> inside;
    int opened = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const WindowDim& window = value.window[d];
      if (window.size == 1 && window.stride == 1 && window.before == 0) {
        inner.push_back(index[d]);
        continue;
      }
      const VarId k = open_loop("k", window.size);
      ++opened;
      const Affine place = index[d] * window.stride + Affine::variable(k) * window.dilation - Affine(window.before);
      const Range range = range_of(place, ranges());
      inner.push_back(place);
      if (range.low >= 0 && range.high < shape[d]) continue;
      const VarId from = define("from_", text(place), {0, shape[d] - 1}, axes_of({place}), mask_of({place}));
      inner.back() = Affine::variable(from);
      inside.push_back(fmt::format("({} >= 0)", name(from)));
      inside.push_back(fmt::format("({} < {})", name(from), shape[d]));
    }
    PyExpr next = converted(guarded(inside, [&] { return emit(value.operands[0], inner); }), type);
    if (!inside.empty())
      next = apply("where",
                   {{fmt::format("({})", fmt::join(inside, " & ")), DType::boolean, block, depth()},
                    next,
                    {identity(value.fn, type), type, false, 0}},
                   type);
    assign(acc, combine(value.fn, {acc, type, block, depth()}, next).text);
    for (int i = 0; i < opened; ++i) close();
    result = converted({acc, type, block, at}, value.dtype);
  });
  return named_at(at, "windowed", result);
}

PyExpr PyEmitter::emit_product(const Value& value, const Index& index) {
  PyExpr result;
  const int at = guards_.empty() ? depth_of(index) : depth();
  at_depth(at, [&] {
    const DType type = !is_floating(value.dtype) ? value.dtype : DType::f64;
    const bool block = is_block(index);
    const std::string acc = accumulator("dot", type, number(0, type), block);
    const VarId k = open_loop("k", graph.shape(value.operands[0])[2]);
    const PyExpr left = converted(emit(value.operands[0], {index[0], index[1], Affine::variable(k)}), type);
    const PyExpr right = emit(value.operands[1], {index[0], Affine::variable(k), index[2]});
    assign(acc, fmt::format("{} + {} * {}", acc, left.text, right.text));
    close();
    result = type == value.dtype ? wrapped({acc, type, block, at}) : converted({acc, type, block, at}, value.dtype);
  });
  return named_at(at, "product", result);
}

PyExpr PyEmitter::emit_convolution(const Value& value, const Index& index) {
  PyExpr result;
  const int at = guards_.empty() ? depth_of(index) : depth();
  at_depth(at, [&] {
    const Shape& inputs = graph.shape(value.operands[0]);
    const Shape& weights = graph.shape(value.operands[1]);
    const DType type = value.dtype == DType::f64 ? DType::f64 : DType::f32;
    const bool block = is_block(index);
    const std::string acc = accumulator("sum_", type, number(0, type), block);
    const VarId channel = open_loop("c", weights[1]);
    int opened = 1;
    Index of_input{index[0], Affine::variable(channel)}, of_weight{index[1], Affine::variable(channel)};
    if (value.groups > 1) {
      const std::int64_t each = value.shape[1] / value.groups;
      const Division division = divide(index[1], each, ranges());
      const Affine group = division.exact ? division.quotient : Affine::variable(quotient(index[1], each, {0, value.groups - 1}));
      of_input[1] = of_input[1] + group * weights[1];
    }
    std::vector<std::string> inside;
    for (std::size_t d = 2; d < inputs.size(); ++d) {
      const WindowDim& dim = value.window[d - 2];
      const VarId k = open_loop("k", dim.size);
      ++opened;
      of_weight.push_back(Affine::variable(k));
      const Affine place = index[d] * dim.stride + Affine::variable(k) * dim.dilation - Affine(dim.before);
      const Range range = range_of(place, ranges());
      of_input.push_back(place);
      if (dim.up == 1 && range.low >= 0 && range.high < inputs[d]) continue;
      const unsigned varies = axes_of({place});
      const VarId from = define("from_", text(place), {0, inputs[d] * dim.up - 1}, varies, mask_of({place}));
      inside.push_back(fmt::format("({} >= 0)", name(from)));
      inside.push_back(fmt::format("({} < {})", name(from), inputs[d] * dim.up));
      of_input.back() = Affine::variable(from);
      if (dim.up == 1) continue;
      inside.push_back(fmt::format("({} % {} == 0)", name(from), dim.up));
      of_input.back() = Affine::variable(
          define("from_", fmt::format("{} // {}", name(from), dim.up), {0, inputs[d] - 1}, varies, mask_of({place})));
    }
    const PyExpr left = guarded(inside, [&] { return emit(value.operands[0], of_input); });
    const PyExpr right = emit(value.operands[1], of_weight);
    assign(acc, fmt::format("{} + {} * {}", acc, left.text, right.text));
    for (int i = 0; i < opened; ++i) close();
    result = converted({acc, type, block, at}, value.dtype);
  });
  return named_at(at, "convolved", result);
}

PyExpr PyEmitter::emit_gather(const Value& value, const Index& index) {
  const PyExpr picked = emit(value.operands[1], index);
  const auto dim = static_cast<std::size_t>(value.dims[0]);
  VarId pick = -1;
  at_depth(guards_.empty() ? std::min(picked.depth, depth()) : depth(), [&] {
    pick = define("pick", picked.text, {0, graph.shape(value.operands[0])[dim] - 1}, axes_of(index), mask_of(index));
  });
  Index inner = index;
  inner[dim] = Affine::variable(pick);
  return emit(value.operands[0], inner);
}

PyExpr PyEmitter::emit_pad(const Value& value, const Index& index) {
  const Shape& shape = graph.shape(value.operands[0]);
  Index inner;
  std::vector<std::string> inside;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Affine place = index[d] - Affine(value.before[d]);
    const Range range = range_of(place, ranges());
    inner.push_back(place);
    if (range.low >= 0 && range.high < shape[d]) continue;
    const VarId from = define("from_", text(place), {0, shape[d] - 1}, axes_of({place}), mask_of({place}));
    inner.back() = Affine::variable(from);
    inside.push_back(fmt::format("({} >= 0)", name(from)));
    inside.push_back(fmt::format("({} < {})", name(from), shape[d]));
  }
  PyExpr value_inside = guarded(inside, [&] { return emit(value.operands[0], inner); });
  if (inside.empty()) return value_inside;
  const PyExpr condition{fmt::format("({})", fmt::join(inside, " & ")), DType::boolean, is_block(index), depth()};
  return apply("where", {condition, value_inside, emit(value.operands[1], {})}, value.dtype);
}

PyExpr PyEmitter::emit_concat(const Value& value, const Index& index) {
  const auto dim = static_cast<std::size_t>(value.dims[0]);
  const Range range = range_of(index[dim], ranges());
  PyExpr result;
  std::int64_t offset = 0;
  for (const ValueId operand : value.operands) {
    const std::int64_t size = graph.shape(operand)[dim];
    const bool reached = range.high >= offset && range.low < offset + size;
    const bool whole = range.low >= offset && range.high < offset + size;
    offset += size;
    if (!reached) continue;
    Index inner = index;
    inner[dim] = index[dim] - Affine(offset - size);
    if (whole) return emit(operand, inner);
    const VarId from = define("from_", text(inner[dim]), {0, size - 1}, axes_of({inner[dim]}), mask_of({inner[dim]}));
    inner[dim] = Affine::variable(from);
    const std::vector<std::string> inside{fmt::format("({} >= 0)", name(from)), fmt::format("({} < {})", name(from), size)};
    const PyExpr part = guarded(inside, [&] { return emit(operand, inner); });
    const PyExpr condition{fmt::format("({} >= 0)", name(from)), DType::boolean, part.block, depth()};
    result = result.text.empty() ? part : apply("where", {condition, part, result}, value.dtype);
  }
  return result;
}

PyExpr PyEmitter::emit_table(ValueId, const Value& value, const Index& index) {
  if (value.numbers.size() > kLongestTable) {
    set_trouble("a long table of numbers");
    return {"0", value.dtype, false, 0};
  }
  const std::string at = text(flatten(index, value.shape));
  PyExpr result{number(value.numbers.empty() ? 0 : value.numbers[0], value.dtype), value.dtype, is_block(index), depth_of(index)};
  for (std::size_t i = 1; i < value.numbers.size(); ++i)
    result.text = apply("where",
                        {{fmt::format("(({}) == {})", at, i), DType::boolean, true, 0},
                         {number(value.numbers[i], value.dtype), value.dtype, false, 0},
                         result},
                        value.dtype)
                      .text;
  return result;
}

}  // namespace kw
