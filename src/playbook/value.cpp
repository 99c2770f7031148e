#include "playbook/value.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

const double kExactInDouble = std::ldexp(1.0, 53);

std::string key_of(const Value& value) {
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|", static_cast<int>(value.kind), static_cast<int>(value.dtype),
                                fmt::join(value.shape, ","), fmt::join(value.operands, ","), value.fn, fmt::join(value.dims, ","),
                                fmt::join(value.before, ","), value.name, value.number, fmt::join(value.numbers, ","),
                                std::signbit(value.number));
  for (const auto& map : value.map) key += fmt::format("m{}:{}:{}", map.out_dim, map.scale, map.offset);
  for (const auto& dim : value.window)
    key += fmt::format("w{}:{}:{}:{}:{}", dim.size, dim.stride, dim.before, dim.dilation, dim.up);
  if (value.groups != 1) key += fmt::format("g{}", value.groups);
  return key;
}

Shape broadcast_shape(const Graph& graph, const std::vector<ValueId>& operands) {
  Shape shape;
  for (const ValueId operand : operands) {
    const Shape& own = graph.shape(operand);
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (std::size_t d = 0; d < own.size(); ++d) {
      auto& size = shape[shape.size() - own.size() + d];
      if (own[d] != 1) size = own[d];
    }
  }
  return shape;
}

Shape without_ones(const Shape& shape) {
  Shape result;
  std::ranges::copy_if(shape, std::back_inserter(result), [](std::int64_t size) { return size != 1; });
  return result;
}

// A whole number as a type of fewer bits has it; numbers that a double may have rounded stay as they are.
double wrapped_number(double number, DType dtype) {
  if (dtype == DType::i64 || !(std::abs(number) < kExactInDouble)) return number;
  const double span = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)));
  const double below = dtype == DType::u8 ? 0 : span / 2;
  return number - span * std::floor((number + below) / span);
}

bool fold_numbers(const std::string& fn, const std::vector<double>& x, double& result) {
  const auto rounded = [&](double value) {
    result = value;
    return true;
  };
  if (fn == "add") return rounded(x[0] + x[1]);
  if (fn == "sub") return rounded(x[0] - x[1]);
  if (fn == "mul") return rounded(x[0] * x[1]);
  if (fn == "div") return rounded(x[0] / x[1]);
  if (fn == "neg") return rounded(-x[0]);
  if (fn == "sqrt") return rounded(std::sqrt(x[0]));
  if (fn == "exp") return rounded(std::exp(x[0]));
  if (fn == "log") return rounded(std::log(x[0]));
  return false;
}

}  // namespace

const Value* constant_behind(const Graph& graph, ValueId id) {
  while (graph.at(id).kind == ValueKind::view) id = graph.at(id).operands[0];
  return graph.at(id).kind == ValueKind::constant ? &graph.at(id) : nullptr;
}

std::int64_t numel(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

std::vector<std::vector<int>> parts_of_merged(const Shape& split, const Shape& merged) {
  std::vector<std::vector<int>> parts(merged.size());
  std::size_t next = 0;
  for (std::size_t d = 0; d < merged.size(); ++d) {
    std::int64_t extent = 1;
    for (; next < split.size() && (extent < merged[d] || split[next] == 1); ++next) {
      extent *= split[next];
      parts[d].push_back(static_cast<int>(next));
    }
    if (extent != merged[d]) return {};
  }
  return next == split.size() ? parts : std::vector<std::vector<int>>{};
}

std::vector<std::int64_t> contiguous_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);  // PyTorch's way: nothing is divided by the size of what is empty
  }
  return strides;
}

ValueId Graph::add(Value value) {
  const std::string key = key_of(value);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  value.origin = origin_;
  values_.push_back(std::move(value));
  return known_[key] = size() - 1;
}

ValueId Graph::constant(double number, DType dtype) {
  Value value{.kind = ValueKind::constant, .dtype = dtype};
  value.number = is_floating(dtype) || dtype == DType::boolean ? number : wrapped_number(number, dtype);
  return add(std::move(value));
}

ValueId Graph::iota(std::int64_t count) { return add({.kind = ValueKind::iota, .dtype = DType::i64, .shape = {count}}); }

ValueId Graph::view(ValueId operand, Shape shape, std::vector<DimMap> map) {
  const Value& of = at(operand);
  for (std::size_t d = 0; d < map.size(); ++d)
    if (of.shape[d] == 1) map[d] = {};
  if (of.kind == ValueKind::view) {
    std::vector<DimMap> joined(of.map);
    for (auto& inner : joined) {
      if (inner.out_dim < 0) continue;
      const DimMap& outer = map[static_cast<std::size_t>(inner.out_dim)];
      inner = {outer.out_dim, outer.out_dim < 0 ? 1 : inner.scale * outer.scale, inner.scale * outer.offset + inner.offset};
    }
    return view(of.operands[0], std::move(shape), std::move(joined));
  }
  bool identity = shape == of.shape;
  for (std::size_t d = 0; identity && d < map.size(); ++d)
    identity = of.shape[d] == 1 || map[d] == DimMap{static_cast<int>(d), 1, 0};
  if (identity) return operand;
  Value value{.kind = ValueKind::view, .dtype = of.dtype, .shape = std::move(shape), .operands = {operand}};
  value.map = std::move(map);
  return add(std::move(value));
}

// Something that is read again and again along a dimension stays that: its own dimensions are split before it is spread out.
ValueId Graph::spread_in(ValueId view, const Shape& split) {
  const Value& of = at(view);
  const auto parts = parts_of_merged(split, of.shape);
  std::set<int> read;
  for (const auto& from : of.map) read.insert(from.out_dim);
  bool spread = false;
  for (std::size_t d = 0; d < of.shape.size(); ++d) spread = spread || (of.shape[d] != 1 && !read.contains(static_cast<int>(d)));
  if (parts.empty() || !spread) return -1;
  Shape own;
  std::vector<DimMap> map;
  for (std::size_t d = 0; d < of.map.size(); ++d) {
    const DimMap& from = of.map[d];
    const std::int64_t extent = shape(of.operands[0])[d];
    const auto part = from.out_dim < 0 ? std::vector<int>{} : parts[static_cast<std::size_t>(from.out_dim)];
    if (part.size() <= 1) {
      own.push_back(extent);
      map.push_back(part.empty() ? DimMap{-1, 1, from.offset} : DimMap{part[0], from.scale, from.offset});
      continue;
    }
    if (from.scale != 1 || from.offset != 0 || extent != of.shape[static_cast<std::size_t>(from.out_dim)]) return -1;
    for (const int p : part) {
      own.push_back(split[static_cast<std::size_t>(p)]);
      map.push_back({p, 1, 0});
    }
  }
  const ValueId operand = reshape(of.operands[0], std::move(own));
  return this->view(operand, split, std::move(map));
}

ValueId Graph::reshape(ValueId operand, Shape shape) {
  const Value& of = at(operand);
  if (shape == of.shape) return operand;
  if (constant_behind(*this, operand) != nullptr) {
    while (at(operand).kind == ValueKind::view) operand = at(operand).operands[0];
    return view(operand, std::move(shape), {});
  }
  if (without_ones(shape) == without_ones(of.shape)) {
    std::vector<DimMap> map(of.shape.size());
    std::size_t out = 0;
    for (std::size_t d = 0; d < of.shape.size(); ++d) {
      if (of.shape[d] == 1) continue;
      while (shape[out] == 1) ++out;
      map[d] = {static_cast<int>(out++), 1, 0};
    }
    return view(operand, std::move(shape), std::move(map));
  }
  if (of.kind == ValueKind::reshape) return reshape(of.operands[0], std::move(shape));
  if (of.kind == ValueKind::view)
    if (const ValueId spread = spread_in(operand, shape); spread >= 0) return spread;
  return add({.kind = ValueKind::reshape, .dtype = of.dtype, .shape = std::move(shape), .operands = {operand}});
}

ValueId Graph::permute(ValueId operand, const std::vector<int>& order) {
  Shape shape;
  std::vector<DimMap> map(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    shape.push_back(this->shape(operand)[static_cast<std::size_t>(order[d])]);
    map[static_cast<std::size_t>(order[d])] = {static_cast<int>(d), 1, 0};
  }
  return view(operand, std::move(shape), std::move(map));
}

ValueId Graph::expand(ValueId operand, const Shape& shape) {
  const Shape own = this->shape(operand);
  std::vector<DimMap> map(own.size());
  const std::size_t ahead = shape.size() - own.size();
  for (std::size_t d = 0; d < own.size(); ++d)
    if (own[d] != 1 || shape[ahead + d] == 1) map[d] = {static_cast<int>(ahead + d), 1, 0};
  return view(operand, shape, std::move(map));
}

ValueId Graph::unsqueeze(ValueId operand, int dim) {
  Shape shape = this->shape(operand);
  shape.insert(shape.begin() + dim, 1);
  return reshape(operand, std::move(shape));
}

ValueId Graph::slice(ValueId operand, int dim, std::int64_t start, std::int64_t count, std::int64_t step) {
  Shape shape = this->shape(operand);
  std::vector<DimMap> map(shape.size());
  for (std::size_t d = 0; d < map.size(); ++d) map[d] = {static_cast<int>(d), 1, 0};
  const auto at = static_cast<std::size_t>(dim);
  map[at] = {dim, step, start};
  if (count == 1) map[at] = {-1, 1, start};
  shape[at] = count;
  return view(operand, std::move(shape), std::move(map));
}

ValueId Graph::flip(ValueId operand, int dim) {
  const std::int64_t size = shape(operand)[static_cast<std::size_t>(dim)];
  return slice(operand, dim, size - 1, size, -1);
}

ValueId Graph::select(ValueId operand, int dim, std::int64_t position) {
  const ValueId part = slice(operand, dim, position, 1);
  Shape shape = this->shape(part);
  shape.erase(shape.begin() + dim);
  return reshape(part, std::move(shape));
}

ValueId Graph::pointwise(const std::string& fn, const std::vector<ValueId>& operands, DType dtype) {
  const Shape shape = broadcast_shape(*this, operands);
  std::vector<const Value*> constants;
  for (const ValueId operand : operands) constants.push_back(constant_behind(*this, operand));
  if (std::ranges::all_of(constants, [](const Value* c) { return c != nullptr; })) {
    std::vector<double> numbers;
    for (const Value* c : constants) numbers.push_back(c->number);
    double folded = 0;
    const bool whole_sum = dtype != DType::boolean && (fn == "add" || fn == "sub" || fn == "mul" || fn == "neg");
    const bool folds = (is_floating(dtype) || whole_sum) && fold_numbers(fn, numbers, folded);
    if (folds && (is_floating(dtype) || std::abs(folded) < kExactInDouble)) return expand(constant(folded, dtype), shape);
  }
  const auto is = [&](std::size_t i, double number) { return constants[i] != nullptr && constants[i]->number == number; };
  if ((fn == "mul" || fn == "div") && is(1, 1) && at(operands[0]).dtype == dtype) return expand(operands[0], shape);
  if (fn == "mul" && is(0, 1) && at(operands[1]).dtype == dtype) return expand(operands[1], shape);
  if ((fn == "add" || fn == "sub") && is(1, 0) && at(operands[0]).dtype == dtype) return expand(operands[0], shape);
  // Arithmetic on a reshaped value with more dimensions is done in these: what is known of rows there is not lost.
  for (const ValueId operand : operands) {
    const Value& of = at(operand);
    if (of.kind != ValueKind::reshape || of.shape != shape || shape.size() >= this->shape(of.operands[0]).size()) continue;
    if (at(of.operands[0]).kind == ValueKind::argument) continue;
    const Shape finer = this->shape(of.operands[0]);
    std::vector<ValueId> reshaped;
    for (const ValueId other : operands) reshaped.push_back(reshape(expand(other, shape), finer));
    return reshape(pointwise(fn, reshaped, dtype), shape);
  }
  Value value{.kind = ValueKind::pointwise, .dtype = dtype, .shape = shape};
  for (const ValueId operand : operands) value.operands.push_back(expand(operand, shape));
  value.fn = fn;
  return add(std::move(value));
}

ValueId Graph::cast(ValueId operand, DType dtype) {
  if (at(operand).dtype == dtype) return operand;
  if (const Value* number = constant_behind(*this, operand)) {
    double cast_number = number->number;
    if (dtype == DType::boolean) {
      cast_number = cast_number != 0 ? 1 : 0;
    } else if (!is_floating(dtype)) {
      cast_number = std::trunc(cast_number);
    }
    const Shape shape = this->shape(operand);
    return expand(constant(cast_number, dtype), shape);
  }
  return pointwise("cast", {operand}, dtype);
}

ValueId Graph::reduce(const std::string& fn, ValueId operand, std::vector<int> dims, bool keepdim) {
  std::ranges::sort(dims);
  const Shape own = shape(operand);
  // What was computed with more dimensions is reduced over these.
  if (const Value& merged = at(operand); merged.kind == ValueKind::reshape && at(merged.operands[0]).kind == ValueKind::pointwise) {
    if (const auto parts = parts_of_merged(shape(merged.operands[0]), own); !parts.empty()) {
      Shape kept;
      std::vector<int> split;
      for (int d = 0; d < static_cast<int>(own.size()); ++d) {
        const bool reduced = std::ranges::find(dims, d) != dims.end();
        if (reduced) std::ranges::copy(parts[static_cast<std::size_t>(d)], std::back_inserter(split));
        if (keepdim || !reduced) kept.push_back(reduced ? 1 : own[static_cast<std::size_t>(d)]);
      }
      if (!split.empty()) return reshape(reduce(fn, merged.operands[0], split), kept);
    }
  }
  Value value{.kind = ValueKind::reduce, .dtype = at(operand).dtype, .operands = {operand}};
  Shape kept;
  for (int d = 0; d < static_cast<int>(own.size()); ++d) {
    const bool reduced = std::ranges::find(dims, d) != dims.end();
    if (!reduced) value.shape.push_back(own[static_cast<std::size_t>(d)]);
    kept.push_back(reduced ? 1 : own[static_cast<std::size_t>(d)]);
  }
  value.fn = fn;
  value.dims = std::move(dims);
  const ValueId result = value.dims.empty() ? operand : add(std::move(value));
  return keepdim ? reshape(result, kept) : result;
}

ValueId Graph::arg_reduce(const std::string& fn, ValueId operand, int dim, bool keepdim) {
  Shape shape = this->shape(operand);
  Shape kept = shape;
  kept[static_cast<std::size_t>(dim)] = 1;
  shape.erase(shape.begin() + dim);
  Value value{.kind = ValueKind::arg_reduce, .dtype = DType::i64, .shape = std::move(shape), .operands = {operand}};
  value.fn = fn;
  value.dims = {dim};
  const ValueId result = add(std::move(value));
  return keepdim ? reshape(result, kept) : result;
}

ValueId Graph::product(ValueId left, ValueId right) {
  const Shape a = shape(left);
  const Shape b = shape(right);
  return add({.kind = ValueKind::product, .dtype = dtype(left), .shape = {a[0], a[1], b[2]}, .operands = {left, right}});
}

ValueId Graph::convolution(ValueId input, ValueId weight, Shape shape, std::vector<WindowDim> window, std::int64_t groups) {
  Value value{.kind = ValueKind::convolution, .dtype = dtype(input), .shape = std::move(shape), .operands = {input, weight}};
  value.window = std::move(window);
  value.groups = groups;
  return add(std::move(value));
}

ValueId Graph::gather(ValueId table, ValueId index, int dim) {
  Value value{.kind = ValueKind::gather, .dtype = dtype(table), .shape = shape(index), .operands = {table, index}};
  value.dims = {dim};
  return add(std::move(value));
}

bool is_costly(const Value& value) {
  static const std::set<std::string> costly{"exp",  "expm1", "log",       "tanh", "sigmoid",  "silu",
                                            "mish", "gelu",  "gelu_tanh", "erf",  "softplus", "pow"};
  return value.kind == ValueKind::pointwise && costly.contains(value.fn);
}

std::vector<std::vector<ValueId>> users_of(const Graph& graph) {
  std::vector<std::vector<ValueId>> users(static_cast<std::size_t>(graph.size()));
  for (ValueId id = 0; id < graph.size(); ++id)
    for (const ValueId operand : graph.at(id).operands) {
      auto& of = users[static_cast<std::size_t>(operand)];
      if (of.empty() || of.back() != id) of.push_back(id);
    }
  return users;
}

}  // namespace kw
