#include "playbook/emit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "playbook/reach.h"
#include "playbook/user_names.h"
#include "playbook/writing_limit.h"

namespace kw {
namespace {

constexpr std::size_t kLongExpression = 90;  // a longer one gets a name of its own

// How large a number of a type in few bytes is; negative: of other types.
double greatest_of(DType dtype) { return dtype == DType::i8 ? 128 : dtype == DType::u8 ? 255 : dtype == DType::i16 ? 32768 : -1; }

void append_line(std::string& to, const std::string& text, int depth) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (!part.empty())
      to += (part[0] == '#' ? std::string() : std::string(2 * static_cast<std::size_t>(depth + 1), ' ')) + part + "\n";
    begin = end + 1;
  }
}

}  // namespace

Emitter::Emitter(const Graph& graph, std::set<std::string> reserved) : graph_(graph), names_(std::move(reserved)), scopes_(1) {
  const auto users = users_of(graph);
  for (std::size_t id = 0; id < users.size(); ++id) {
    users_.push_back(static_cast<int>(users[id].size()));
    if (counts_where_negative(graph, users, static_cast<ValueId>(id))) for_negatives_.insert(static_cast<ValueId>(id));
  }
}

std::string Emitter::unique(const std::string& hint) {
  std::string candidate = hint;
  while (names_.contains(candidate)) candidate = fmt::format("{}{}", hint, ++next_name_[hint]);
  names_.insert(candidate);
  return candidate;
}

VarId Emitter::variable(const std::string& hint, std::int64_t extent, bool vector) {
  Variable var;
  var.name = unique(hint);
  var.range = {0, std::max<std::int64_t>(extent - 1, 0)};
  var.vector = vector;
  var.depth = depth() + 1;
  variables_.push_back(var);
  return static_cast<VarId>(variables_.size()) - 1;
}

void Emitter::open(const std::string& header, const std::vector<VarId>& variables) {
  scopes_.emplace_back();
  scopes_.back().header = header;
  for (const VarId var : variables) variables_[static_cast<std::size_t>(var)].depth = depth();
  scopes_.back().variables = variables;
}

VarId Emitter::open_loop(const std::string& hint, std::int64_t extent, const std::string& pragma) {
  const VarId var = variable(hint, extent);
  open(fmt::format("{0}for ({3} {1} = 0; {1} < {2}; ++{1}) {{", pragma.empty() ? "" : pragma + "\n", name(var), extent, index_type),
       {var});
  return var;
}

void Emitter::close(const std::string& footer) {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (adds_terms_twice(scope)) scope.header = "#pragma GCC unroll 1\n" + scope.header;
  auto& parent = scopes_.back();
  append_line(parent.text, scope.header, depth());
  parent.text += scope.text;
  append_line(parent.text, footer, depth());
}

void Emitter::line(const std::string& text) {
  count_writing(text.size());
  append_line(scopes_.back().text, text, depth());
}

VarId Emitter::define(const std::string& hint, const std::string& text, Range range, bool vector) {
  const VarId var = variable(hint, 1, vector);
  auto& made = variables_[static_cast<std::size_t>(var)];
  made.range = range;
  made.depth = depth();
  line(fmt::format("const {} {} = {};", index_type, made.name, text));
  return var;
}

std::vector<Range> Emitter::ranges() const {
  std::vector<Range> all;
  for (const auto& var : variables_) all.push_back(var.range);
  return all;
}

Affine Emitter::quotient(const Affine& value, std::int64_t divisor, Range range) {
  const Division division = divide(value, divisor, ranges());
  if (division.exact) return division.quotient;
  const int at = depth_of({value});
  const std::string definition = fmt::format("{}/{}", key(0, {value}), divisor);
  if (const auto found = scopes_[static_cast<std::size_t>(at)].integers.find(definition);
      found != scopes_[static_cast<std::size_t>(at)].integers.end())
    return Affine::variable(found->second);
  const VarId var = variable("part", 1);
  auto& made = variables_[static_cast<std::size_t>(var)];
  made.range = range;
  made.depth = at;
  made.divisor = divisor;
  made.dividend = value;
  made.defined = false;
  // CUDA: four lanes that start at a multiple of four have one quotient by a multiple of four.
  const VarId lanes_of = vector_variable(value);
  const bool same_in_lanes =
      cuda && lanes_of >= 0 && divisor % 4 == 0 && is_aligned(value, lanes_of) && value.coefficient(lanes_of) == 1;
  made.varies = varies({value}) && !same_in_lanes;
  scopes_[static_cast<std::size_t>(at)].integers[definition] = var;
  return Affine::variable(var);
}

Index Emitter::unflatten(const Affine& flat, const Shape& shape) {
  Index index(shape.size());
  Affine rest = flat;
  const auto strides = contiguous_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d + 1 == shape.size()) {
      index[d] = rest;
    } else if (shape[d] > 1) {
      const VariableDivision division = cuda ? VariableDivision{} : divide_variable(rest, strides[d], ranges());
      if (division.variable >= 0 && !is_vector(division.variable)) {
        const TakenApart halves = take_apart(division.variable, division.parts);
        index[d] = division.quotient + Affine::variable(halves.quotient);
        rest = division.rest + Affine::variable(halves.remainder) * division.step;
        continue;
      }
      index[d] = quotient(rest, strides[d], {0, shape[d] - 1});
      rest = rest - index[d] * strides[d];
    }
  }
  return index;
}

TakenApart Emitter::take_apart(VarId whole, std::int64_t parts) {
  const auto known =
      std::ranges::find_if(taken_apart_, [&](const TakenApart& halves) { return halves.whole == whole && halves.parts == parts; });
  if (known != taken_apart_.end()) return *known;
  const Range range = variables_[static_cast<std::size_t>(whole)].range;
  const Affine high = quotient(Affine::variable(whole), parts, {range.low / parts, range.high / parts});
  const VarId low = variable("rest", 1);
  auto& made = variables_[static_cast<std::size_t>(low)];
  made.range = {0, parts - 1};
  made.depth = depth_of({Affine::variable(whole)});
  made.divisor = parts;
  made.dividend = Affine::variable(whole);
  made.remainder = true;
  made.defined = false;
  made.varies = varies({Affine::variable(whole)});
  taken_apart_.push_back({whole, high.terms.begin()->first, low, parts});
  return taken_apart_.back();
}

Affine Emitter::flatten(const Index& index, const Shape& shape) {
  Affine flat;
  const auto strides = contiguous_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat + index[d] * (shape[d] == 1 ? 0 : strides[d]);
  return put_together(flat, taken_apart_);
}

// By groups of dimensions with as many positions in both shapes, so that what is known of one dimension is of use.
Index Emitter::reshaped(const Index& index, const Shape& from, const Shape& to) {
  Index result;
  std::size_t i = 0;
  while (result.size() < to.size()) {
    const std::size_t first = i;
    Shape of_from, of_to;
    const auto grow = [&](Shape& group, const Shape& all, std::size_t next) {
      if (next < all.size()) group.push_back(all[next]);
    };
    grow(of_from, from, i++);
    grow(of_to, to, result.size());
    while (numel(of_from) != numel(of_to)) {
      const bool left = numel(of_from) < numel(of_to);
      if (left ? i >= from.size() : result.size() + of_to.size() >= to.size()) return unflatten(flatten(index, from), to);
      left ? grow(of_from, from, i++) : grow(of_to, to, result.size() + of_to.size());
    }
    const Index part(index.begin() + static_cast<std::ptrdiff_t>(std::min(first, index.size())),
                     index.begin() + static_cast<std::ptrdiff_t>(std::min(i, index.size())));
    const Index parts = of_from == of_to ? part : unflatten(flatten(part, of_from), of_to);
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

Affine Emitter::position_in(const Buffer& buffer, const Index& index) {
  Index at = index;
  for (const Movement& move : buffer.moves) {
    Index next(move.to.size());
    if (move.map.empty()) {
      next = reshaped(at, move.from, move.to);
    } else {
      for (std::size_t d = 0; d < move.map.size(); ++d)
        if (move.map[d].out_dim >= 0) next[static_cast<std::size_t>(move.map[d].out_dim)] = at[d];
    }
    at = std::move(next);
  }
  return flatten(at, buffer.moves.empty() ? buffer.shape : buffer.moves.back().to);
}

void Emitter::touch(VarId id) {
  if (variables_[static_cast<std::size_t>(id)].varies) set_trouble("a position that is no linear function of the lane");
  if (variables_[static_cast<std::size_t>(id)].defined) return;
  variables_[static_cast<std::size_t>(id)].defined = true;
  const Variable var = variables_[static_cast<std::size_t>(id)];
  const std::string dividend = text(var.dividend);
  const bool plain = var.dividend.terms.size() == 1 && var.dividend.constant == 0 && var.dividend.terms.begin()->second == 1;
  at_depth(var.depth, [&] {
    line(fmt::format("const {} {} = {} {} {};", index_type, var.name, plain ? dividend : "(" + dividend + ")",
                     var.remainder ? "%" : "/", var.divisor));
  });
}

std::string Emitter::text(const Affine& value) {
  std::vector<std::pair<std::int64_t, VarId>> terms;
  for (const auto& [var, coefficient] : value.terms) {
    touch(var);
    terms.emplace_back(coefficient, var);
  }
  std::ranges::sort(terms, [](const auto& a, const auto& b) {
    return std::abs(a.first) != std::abs(b.first) ? std::abs(a.first) > std::abs(b.first) : a.second < b.second;
  });
  std::stable_partition(terms.begin(), terms.end(), [](const auto& term) { return term.first > 0; });
  std::string result;
  for (const auto& [coefficient, var] : terms) {
    if (result.empty()) {
      result = coefficient < 0 ? "-" : "";
    } else {
      result += coefficient < 0 ? " - " : " + ";
    }
    result += name(var);
    if (std::abs(coefficient) != 1) result += fmt::format(" * {}", std::abs(coefficient));
  }
  if (result.empty()) return fmt::format("{}", value.constant);
  if (value.constant != 0) result += fmt::format(" {} {}", value.constant < 0 ? "-" : "+", std::abs(value.constant));
  return result;
}

std::string Emitter::take_text() { return std::exchange(scopes_.front().text, {}); }

int Emitter::depth_of(const Index& index) const {
  int deepest = 0;
  for (const auto& part : index)
    for (const auto& [var, coefficient] : part.terms) deepest = std::max(deepest, variables_[static_cast<std::size_t>(var)].depth);
  return deepest;
}

bool Emitter::varies(const Index& index) const {
  return std::ranges::any_of(index, [&](const Affine& part) {
    return std::ranges::any_of(part.terms, [&](const auto& term) {
      const auto& var = variables_[static_cast<std::size_t>(term.first)];
      return var.vector || var.varies;
    });
  });
}

VarId Emitter::vector_variable(const Affine& value) const {
  for (const auto& [var, coefficient] : value.terms)
    if (variables_[static_cast<std::size_t>(var)].vector) return var;
  return -1;
}

void Emitter::at_depth(int wanted, const std::function<void()>& write) {
  std::vector<Scope> aside;
  const auto keep = static_cast<std::size_t>(wanted) + 1;
  for (std::size_t i = keep; i < scopes_.size(); ++i) aside.push_back(std::move(scopes_[i]));
  scopes_.resize(std::min(keep, scopes_.size()));
  write();
  for (auto& scope : aside) scopes_.push_back(std::move(scope));
}

bool Emitter::attempt(const std::function<void()>& write) {
  if (!trouble_.empty()) return false;
  const auto names = names_;
  const auto next_name = next_name_;
  const auto variables = variables_;
  const auto taken_apart = taken_apart_;
  const auto scopes = scopes_;
  const auto used = used_;
  const auto needed = needed_;
  const auto tables = tables_;
  const auto rows = next_row;
  write();
  if (trouble_.empty()) return true;
  names_ = names;
  next_name_ = next_name;
  variables_ = variables;
  taken_apart_ = taken_apart;
  scopes_ = scopes;
  used_ = used;
  needed_ = needed;
  tables_ = tables;
  next_row = rows;
  trouble_.clear();
  return false;
}

std::string Emitter::key(ValueId value, const Index& index) {
  std::string key = fmt::format("{}", value);
  for (const auto& part : index) {
    key += fmt::format(";{}", part.constant);
    for (const auto& [var, coefficient] : part.terms) key += fmt::format("+{}*{}", coefficient, var);
  }
  return key;
}

const Buffer* Emitter::buffer_of(ValueId value) const {
  const auto found = buffers_.find(value);
  return found == buffers_.end() ? nullptr : &found->second;
}

void Emitter::provide(ValueId value, const Index& index, const Expr& expression) {
  Expr known = expression;
  known.depth = depth();
  scopes_.back().known[key(value, index)] = known;
}

Expr Emitter::named(const std::string& hint, const std::string& text, DType dtype, bool vector, const Index& depends) {
  return named_at(depth_of(depends), hint, text, dtype, vector);
}

Expr Emitter::named_at(int at, const std::string& hint, const std::string& text, DType dtype, bool vector) {
  const std::string name = unique(hint);
  const std::string_view type = vector ? (dtype == DType::boolean ? "kw_mask" : "kw_vec") : value_type(dtype);
  at_depth(at, [&] { line(fmt::format("const {} {} = {};", type, name, text)); });
  return {name, dtype, vector, at};
}

Expr Emitter::emit(ValueId id, const Index& index) {
  count_writing();
  const std::string name = key(id, index);
  for (std::size_t i = scopes_.size(); i-- > 0;)
    if (const auto found = scopes_[i].known.find(name); found != scopes_[i].known.end()) return found->second;
  Expr result = emit_new(id, index);
  const Value& value = graph_.at(id);
  const Buffer* buffer = buffer_of(id);
  const bool loaded = buffer != nullptr || value.kind == ValueKind::argument || value.kind == ValueKind::table;
  const bool computed = value.kind == ValueKind::pointwise || loaded;
  const bool outside = result.depth < depth();
  if (computed && (users_[static_cast<std::size_t>(id)] > 1 || outside || length_without_marks(result.text) > kLongExpression)) {
    std::string hint = value.fn + "_";
    if (loaded) hint = (buffer != nullptr ? buffer->name : value.kind == ValueKind::table ? "table" : value.name) + "_at";
    const double bound = result.bound;
    result = named_at(result.depth, hint, result.text, result.dtype, result.vector);
    result.bound = bound;
  }
  // An index may have integers that cancel out: what was found stays good as long as all of them are in scope.
  scopes_[static_cast<std::size_t>(std::min(std::max(result.depth, depth_of(index)), depth()))].known[name] = result;
  return result;
}

Expr Emitter::emit_new(ValueId id, const Index& index) {
  const Value& value = graph_.at(id);
  if (const auto kept = kept_.find(id); kept != kept_.end() && !row_group.item.empty()) {
    const Buffer& buffer = kept->second;
    bool own = flatten(index, buffer.shape) == Affine::variable(row_group.position);
    for (std::size_t d = 0; d < index.size(); ++d) own = own && (buffer.shape[d] == value.shape[d] || index[d] == buffer.row[d]);
    if (own) return {fmt::format("{}[{}]", buffer.name, row_group.item), buffer.dtype, row_group.vector, depth_of(index)};
  }
  if (const Buffer* buffer = buffer_of(id)) {
    Expr loaded = load(buffer->name, position_in(*buffer, index), buffer->dtype);
    if (is_16_bit(loaded.dtype)) loaded.dtype = value.dtype;
    loaded.bound = greatest_of(buffer->dtype);
    loaded.depth = std::max(loaded.depth, depth_of(index));  // a row that is kept is another one for each row
    return loaded;
  }
  switch (value.kind) {
    case ValueKind::argument: {
      Affine position;
      for (std::size_t d = 0; d < value.shape.size(); ++d)
        position = position + index[d] * (value.shape[d] == 1 ? 0 : value.strides[d]);
      Expr loaded = load(value.name, position, value.dtype);
      loaded.bound = greatest_of(value.dtype);
      return loaded;
    }
    case ValueKind::scalar:
      return {value.name, value.dtype, false};
    case ValueKind::constant:
      return {number_text(value.number, value.dtype), value.dtype, false, 0,
              is_floating(value.dtype) ? -1 : std::abs(value.number)};
    case ValueKind::table:
      tables_.insert(id);
      return load(fmt::format("kw_table_{}", id), flatten(index, value.shape), value.dtype);
    case ValueKind::iota:
      return emit_iota(index[0]);
    case ValueKind::view:
      return emit_view(value, index);
    case ValueKind::reshape: {
      const Shape& shape = graph_.shape(value.operands[0]);
      return emit(value.operands[0], unflatten(flatten(index, value.shape), shape));
    }
    case ValueKind::pointwise: {
      std::vector<Expr> operands;
      for (const ValueId operand : value.operands) operands.push_back(emit(operand, index));
      if (value.fn == "exp" && is_never_positive(graph_, value.operands[0])) return exp_to_one(operands[0]);
      if (skip_idle_lanes && for_negatives_.contains(id)) return expm1_of_negatives(operands[0]);
      return apply(value.fn, operands, value.dtype);
    }
    case ValueKind::reduce:
      return emit_reduce(id, index);
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
  return {"0", value.dtype, false};
}

Index behind_view(const Value& view, const Index& index) {
  Index inner;
  for (const auto& map : view.map)
    inner.push_back(map.out_dim < 0 ? Affine(map.offset)
                                    : index[static_cast<std::size_t>(map.out_dim)] * map.scale + Affine(map.offset));
  return inner;
}

Index without_single_positions(Index index, const Shape& shape) {
  for (std::size_t d = 0; d < index.size(); ++d)
    if (shape[d] == 1) index[d] = Affine(0);
  return index;
}

Index operand_index(const Value& reduction, const Index& result, const Index& reduced) {
  Index all(result.size() + reduced.size());
  std::size_t next_free = 0;
  std::size_t next_reduced = 0;
  for (std::size_t d = 0; d < all.size(); ++d) {
    const bool is_reduced = next_reduced < reduction.dims.size() && reduction.dims[next_reduced] == static_cast<int>(d);
    all[d] = is_reduced ? reduced[next_reduced++] : result[next_free++];
  }
  return all;
}

Expr Emitter::emit_view(const Value& value, const Index& index) { return emit(value.operands[0], behind_view(value, index)); }

Expr Emitter::emit_iota(const Affine& position) {
  const VarId vector = vector_variable(position);
  const Range range = range_of(position, ranges());
  const auto greatest = static_cast<double>(std::max(std::abs(range.low), std::abs(range.high)));
  if (vector < 0) {
    const std::string position_text = cuda ? fmt::format("std::int64_t({})", text(position)) : text(position);
    const bool one = cuda || position_text.find(' ') == std::string::npos;
    return {one ? position_text : "(" + position_text + ")", DType::i64, false, depth_of({position}), greatest};
  }
  if (greatest >= (1 << 24)) set_trouble("positions past 2^24 in lanes");
  need("iota");
  const std::int64_t scale = position.coefficient(vector);
  return {
      fmt::format("(float({}) + {}kw_iota())", text(position), scale == 1 ? "" : float_text(static_cast<double>(scale)) + " * "),
      DType::i64, true, depth_of({position}), greatest};
}

}  // namespace kw
