#include "playbook/py_emit.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/writing_limit.h"

namespace kw {
namespace {

constexpr std::size_t kLongPyExpression = 70;

}  // namespace

PyEmitter::PyEmitter(const Graph& of_graph, PyDialect of_dialect, std::set<std::string> reserved, int indent)
    : graph(of_graph), dialect(of_dialect), names_(std::move(reserved)), scopes_(1), indent_(indent) {
  for (const auto& users : users_of(graph)) users_.push_back(static_cast<int>(users.size()));
}

std::string PyEmitter::unique(const std::string& hint) {
  std::string candidate = hint;
  while (names_.contains(candidate)) candidate = fmt::format("{}{}", hint, ++next_name_[hint]);
  names_.insert(candidate);
  return candidate;
}

VarId PyEmitter::position(const std::string& name, Range range, unsigned axes, const std::string& mask) {
  Variable var;
  var.name = name;
  var.range = range;
  var.axes = axes;
  var.mask = mask;
  var.depth = depth();
  variables_.push_back(std::move(var));
  names_.insert(name);
  return static_cast<VarId>(variables_.size()) - 1;
}

VarId PyEmitter::define(const std::string& hint, const std::string& text, Range range, unsigned axes, const std::string& mask) {
  const std::string name = unique(hint);
  line(fmt::format("{} = {}", name, text));
  return position(name, range, axes, mask);
}

void PyEmitter::open(const std::string& header) {
  scopes_.emplace_back();
  scopes_.back().header = header;
}

VarId PyEmitter::open_loop(const std::string& hint, std::int64_t count) {
  const std::string name = unique(hint);
  open(dialect == PyDialect::triton ? fmt::format("for {} in range(0, {}):", name, count)
                                    : fmt::format("for {} in T.serial({}):", name, count));
  return position(name, {0, count - 1}, 0);
}

void PyEmitter::close() {
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  line(scope.header);
  scopes_.back().text +=
      scope.text.empty() ? std::string(4 * static_cast<std::size_t>(depth() + 1 + indent_), ' ') + "pass\n" : scope.text;
}

void PyEmitter::line(const std::string& text) {
  count_writing(text.size());
  scopes_.back().text += std::string(4 * static_cast<std::size_t>(depth() + indent_), ' ') + text + "\n";
}

std::string PyEmitter::take_text() { return std::exchange(scopes_.front().text, {}); }

std::vector<Range> PyEmitter::ranges() const {
  std::vector<Range> all;
  for (const auto& var : variables_) all.push_back(var.range);
  return all;
}

VarId PyEmitter::quotient(const Affine& value, std::int64_t divisor, Range range) {
  const int at = depth_of({value});
  const std::string definition = fmt::format("{}/{}", key(0, {value}), divisor);
  auto& integers = scopes_[static_cast<std::size_t>(at)].integers;
  if (const auto found = integers.find(definition); found != integers.end()) return found->second;
  Variable var;
  var.name = unique("part");
  var.range = range;
  var.axes = axes_of({value});
  var.mask = mask_of({value});
  var.depth = at;
  var.defined = false;
  var.divisor = divisor;
  var.dividend = value;
  variables_.push_back(std::move(var));
  return integers[definition] = static_cast<VarId>(variables_.size()) - 1;
}

Index PyEmitter::unflatten(const Affine& flat, const Shape& shape) {
  Index index(shape.size());
  Affine rest = flat;
  const auto strides = contiguous_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d + 1 == shape.size()) {
      index[d] = rest;
    } else if (shape[d] > 1) {
      const Division division = divide(rest, strides[d], ranges());
      index[d] = division.exact ? division.quotient : Affine::variable(quotient(rest, strides[d], {0, shape[d] - 1}));
      rest = rest - index[d] * strides[d];
    }
  }
  return index;
}

Affine PyEmitter::flatten(const Index& index, const Shape& shape) {
  Affine flat;
  const auto strides = contiguous_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat + index[d] * (shape[d] == 1 ? 0 : strides[d]);
  return flat;
}

std::string PyEmitter::text(const Affine& value) {
  std::string result;
  for (const auto& [id, coefficient] : value.terms) {
    if (!variables_[static_cast<std::size_t>(id)].defined) {
      variables_[static_cast<std::size_t>(id)].defined = true;
      const Variable var = variables_[static_cast<std::size_t>(id)];
      const std::string dividend = text(var.dividend);
      at_depth(var.depth, [&] { line(fmt::format("{} = ({}) // {}", var.name, dividend, var.divisor)); });
    }
    if (!result.empty())
      result += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0)
      result = "-";
    result += name(id);
    if (std::abs(coefficient) != 1) result += fmt::format(" * {}", std::abs(coefficient));
  }
  if (result.empty()) return fmt::format("{}", value.constant);
  if (value.constant != 0) result += fmt::format(" {} {}", value.constant < 0 ? "-" : "+", std::abs(value.constant));
  return result;
}

int PyEmitter::depth_of(const Index& index) const {
  int deepest = 0;
  for (const auto& part : index)
    for (const auto& [var, coefficient] : part.terms) deepest = std::max(deepest, variables_[static_cast<std::size_t>(var)].depth);
  return deepest;
}

unsigned PyEmitter::axes_of(const Index& index) const {
  unsigned axes = 0;
  for (const auto& part : index)
    for (const auto& [var, coefficient] : part.terms) axes |= variables_[static_cast<std::size_t>(var)].axes;
  return axes;
}

std::string PyEmitter::mask_of(const Index& index) const {
  std::vector<std::string> masks;
  const auto add = [&](const std::string& mask) {
    if (!mask.empty() && std::ranges::find(masks, mask) == masks.end()) masks.push_back(mask);
  };
  for (const auto& part : index)
    for (const auto& [var, coefficient] : part.terms) add(variables_[static_cast<std::size_t>(var)].mask);
  return fmt::format("{}", fmt::join(masks, " & "));
}

void PyEmitter::at_depth(int wanted, const std::function<void()>& write) {
  std::vector<Scope> aside;
  const auto keep = static_cast<std::size_t>(wanted) + 1;
  for (std::size_t i = keep; i < scopes_.size(); ++i) aside.push_back(std::move(scopes_[i]));
  scopes_.resize(std::min(keep, scopes_.size()));
  write();
  for (auto& scope : aside) scopes_.push_back(std::move(scope));
}

std::string PyEmitter::key(ValueId value, const Index& index) const {
  std::string key = fmt::format("{}", value);
  for (const auto& part : index) {
    key += fmt::format(";{}", part.constant);
    for (const auto& [var, coefficient] : part.terms) key += fmt::format("+{}*{}", coefficient, var);
  }
  return key + "?" + joined_guards();
}

std::string PyEmitter::joined_guards() const { return fmt::format("{}", fmt::join(guards_, " & ")); }

void PyEmitter::provide(ValueId value, const Index& index, PyExpr expression) {
  expression.depth = depth();
  scopes_.back().known[key(value, index)] = std::move(expression);
}

PyExpr PyEmitter::named_at(int at, const std::string& hint, const PyExpr& expression) {
  const std::string name = unique(hint);
  at_depth(at, [&] { line(fmt::format("{} = {}", name, expression.text)); });
  return {name, expression.dtype, expression.block, at};
}

PyExpr PyEmitter::emit(ValueId id, const Index& index) {
  count_writing();
  const std::string wanted = key(id, index);
  for (std::size_t i = scopes_.size(); i-- > 0;)
    if (const auto found = scopes_[i].known.find(wanted); found != scopes_[i].known.end()) return found->second;
  PyExpr result = emit_new(id, index);
  const Value& value = graph.at(id);
  const bool loaded = buffers_.contains(id) || value.kind == ValueKind::argument;
  const bool computed = value.kind == ValueKind::pointwise || loaded;
  // What stands under a guard stays where it is: its condition is defined there.
  const int at = guards_.empty() ? result.depth : depth();
  if (computed &&
      (users_[static_cast<std::size_t>(id)] > 1 || at < depth() || length_without_marks(result.text) > kLongPyExpression))
    result = named_at(at, loaded ? (buffers_.contains(id) ? buffers_.at(id).name : value.name) + "_at" : value.fn + "_", result);
  scopes_[static_cast<std::size_t>(std::min(std::max({result.depth, depth_of(index), guards_.empty() ? 0 : depth()}), depth()))]
      .known[wanted] = result;
  return result;
}

PyExpr PyEmitter::load(const std::string& pointer, const Affine& position, DType dtype) {
  pointers_.insert(pointer);
  loads_.push_back(position);
  const std::string at = text(position);
  const bool block = is_block({position});
  std::string element;
  if (dialect == PyDialect::triton) {
    std::string mask = mask_of({position});
    if (!guards_.empty()) mask = mask.empty() ? joined_guards() : mask + " & " + joined_guards();
    element = mask.empty() ? fmt::format("tl.load({} + ({}))", pointer, at)
                           : fmt::format("tl.load({} + ({}), mask={}, other=0)", pointer, at, mask);
    if (dtype == DType::f16 || dtype == DType::bf16)
      element += ".to(tl.float32)";
    else if (!is_floating(dtype) && dtype != DType::i64 && dtype != DType::boolean)
      element += ".to(tl.int64)";
    else if (dtype == DType::boolean)
      element = "(" + element + " != 0)";
  } else {
    element = fmt::format("{}[{}]", pointer, at);
    if (dtype == DType::f16 || dtype == DType::bf16)
      element = fmt::format("T.cast({}, 'float32')", element);
    else if (!is_floating(dtype) && dtype != DType::i64 && dtype != DType::boolean)
      element = fmt::format("T.cast({}, 'int64')", element);
    if (!guards_.empty())
      element = fmt::format("T.if_then_else({}, {}, {})", joined_guards(), element,
                            number(0, dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype));
  }
  return {element, dtype, block, guards_.empty() ? depth_of({position}) : depth()};
}

std::string PyEmitter::spread_over_block(const std::string& at, const Index& index, const Affine& position) const {
  return axes_of({position}) == axes_of(index) ? at : fmt::format("{} + tl.zeros({}, tl.int32)", at, block_shape);
}

void PyEmitter::store(const Buffer& buffer, const Index& index, const PyExpr& value) {
  pointers_.insert(buffer.name);
  const Affine position = flatten(index, buffer.shape);
  std::string at = text(position);
  const PyExpr element = converted(value, buffer.dtype);
  if (dialect == PyDialect::triton) {
    const std::string mask = mask_of(index);
    if (is_block(index)) at = spread_over_block(at, index, position);
    // The one result of a block of rows is a block of one.
    if (element.block && !is_block(index)) {
      line(fmt::format("tl.store({} + ({}) + tl.zeros([1, 1], tl.int32), {})", buffer.name, at, element.text));
      return;
    }
    line(mask.empty() ? fmt::format("tl.store({} + ({}), {})", buffer.name, at, element.text)
                      : fmt::format("tl.store({} + ({}), {}, mask={})", buffer.name, at, element.text, mask));
    return;
  }
  const bool small =
      is_floating(buffer.dtype) ? size_of(buffer.dtype) == 2 : buffer.dtype != DType::i64 && buffer.dtype != DType::boolean;
  line(fmt::format("{}[{}] = {}", buffer.name, at,
                   small ? fmt::format("T.cast({}, '{}')", element.text, torch_name(buffer.dtype)) : element.text));
}

PyExpr PyEmitter::emit_new(ValueId id, const Index& index) {
  const Value& value = graph.at(id);
  if (const auto found = buffers_.find(id); found != buffers_.end()) {
    PyExpr loaded = load(found->second.name, flatten(index, found->second.shape), found->second.dtype);
    if (is_16_bit(loaded.dtype)) loaded.dtype = value.dtype;
    return loaded;
  }
  switch (value.kind) {
    case ValueKind::argument: {
      Affine at;
      for (std::size_t d = 0; d < value.shape.size(); ++d) at = at + index[d] * (value.shape[d] == 1 ? 0 : value.strides[d]);
      return load(value.name, at, value.dtype);
    }
    case ValueKind::scalar:
      pointers_.insert(value.name);
      return {value.name, value.dtype, false, 0};
    case ValueKind::constant:
      return {number(value.number, value.dtype), value.dtype, false, 0};
    case ValueKind::table:
      return emit_table(id, value, index);
    case ValueKind::iota: {
      const std::string at = text(index[0]);
      const bool plain = index[0].is_constant();
      const std::string wide = dialect == PyDialect::triton ? fmt::format(fmt::runtime(plain ? "{}" : "({}).to(tl.int64)"), at)
                                                            : fmt::format("T.cast({}, 'int64')", at);
      return {wide, DType::i64, is_block(index), depth_of(index)};
    }
    case ValueKind::view: {
      return emit(value.operands[0], behind_view(value, index));
    }
    case ValueKind::reshape:
      return emit(value.operands[0], unflatten(flatten(index, value.shape), graph.shape(value.operands[0])));
    case ValueKind::pointwise: {
      std::vector<PyExpr> operands;
      for (const ValueId operand : value.operands) operands.push_back(emit(operand, index));
      return apply(value.fn, operands, value.dtype);
    }
    case ValueKind::reduce:
      if (reduce_rows && (axes_of(index) & kAlongColumns) == 0 && guards_.empty()) return reduce_rows(id, index);
      return emit_reduce(value, index);
    case ValueKind::arg_reduce:
      return emit_arg_reduce(value, index);
    case ValueKind::window:
      return emit_window(value, index);
    case ValueKind::product:
      return emit_product(value, index);
    case ValueKind::convolution:
      return emit_convolution(value, index);
    case ValueKind::gather:
      return emit_gather(value, index);
    case ValueKind::pad:
      return emit_pad(value, index);
    case ValueKind::concat:
      return emit_concat(value, index);
    case ValueKind::scan:
    case ValueKind::recurrence:
      break;
  }
  set_trouble("a running value has no element of its own");
  return {"0", value.dtype, false, 0};
}

Emitter::Place PyEmitter::place_of(ValueId id, const Index& index) {
  const Value& value = graph.at(id);
  if (const auto found = buffers_.find(id); found != buffers_.end())
    return {found->second.name, flatten(index, found->second.shape), found->second.dtype, true};
  if (value.kind == ValueKind::argument) {
    Affine at;
    for (std::size_t d = 0; d < value.shape.size(); ++d) at = at + index[d] * (value.shape[d] == 1 ? 0 : value.strides[d]);
    return {value.name, at, value.dtype, true};
  }
  if (value.kind == ValueKind::view) {
    return place_of(value.operands[0], behind_view(value, index));
  }
  if (value.kind == ValueKind::reshape)
    return place_of(value.operands[0], unflatten(flatten(index, value.shape), graph.shape(value.operands[0])));
  return {};
}

}  // namespace kw
