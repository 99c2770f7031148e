// Values whose elements need a loop: reductions, argument reductions, windows and products, written where they are first used.
#include <fmt/format.h>

#include "playbook/emit.h"

namespace kw {
namespace {

// Past this many terms in one running float sum the error would show beside that of PyTorch's blocked sums.
constexpr std::int64_t kLongSum = 4096;
constexpr std::int64_t kMostLanesOfAny = 16;

}  // namespace

// One reduction being written: its loops, its accumulators.
class ReduceEmitter {
 public:
  ReduceEmitter(Emitter& emitter, const Value& value, const Index& index)
      : e_(emitter), value_(value), index_(index), fn_(value.fn), shape_(emitter.graph_.shape(value.operands[0])) {
    for (const int d : value.dims) sizes_.push_back(shape_[static_cast<std::size_t>(d)]);
    acc_ = e_.unique(fn_ == "sum" || fn_ == "prod" ? fn_ : fn_ == "max" || fn_ == "min" ? fn_ + "imum" : fn_);
  }

  // Only a part: the first reduced dimensions at fixed positions, the others from begin to end.
  Expr write_part(const Index& fixed, const std::string& begin, const std::string& end) {
    fixed_ = fixed;
    sizes_.erase(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(fixed.size()));
    begin_ = begin;
    end_ = end;
    if (e_.reduce_style.vector && value_.dtype == DType::f32) {
      Expr result;
      if (e_.attempt([&] { result = lanes(true); })) return result;
      if (begin.empty() && sizes_.size() > 1 && e_.attempt([&] { result = lanes(false); })) return result;
    }
    return scalar();
  }

  Expr write() {
    if (e_.row_group.loop && e_.depth_of(index_) <= e_.row_group.depth) return shared_out();
    if (e_.varies(index_)) return columns();
    if (e_.reduce_style.vector && value_.dtype == DType::f32) {
      Expr result;
      if (e_.attempt([&] { result = lanes(true); })) {
        e_.row_copy.written = e_.row_copy.value == value_.operands[0];
        return result;
      }
      if (sizes_.size() > 1 && e_.attempt([&] { result = lanes(false); })) return result;
    }
    return scalar();
  }

 private:
  Expr term(const Index& reduced) {
    Index all = fixed_;
    all.insert(all.end(), reduced.begin(), reduced.end());
    return e_.emit(value_.operands[0], operand_index(value_, index_, all));
  }

  // acc = acc (fn) term, for any text of an accumulator.
  void update(const std::string& acc, DType acc_type, const Expr& term) {
    if (fn_ == "sum") {
      e_.line(fmt::format("{} += {};", acc, term.text));
    } else if (fn_ == "prod") {
      e_.line(fmt::format("{} *= {};", acc, term.text));
    } else {
      e_.line(fmt::format("{} = {};", acc, e_.combine(fn_, {acc, acc_type, term.vector}, e_.converted(term, acc_type)).text));
    }
  }

  // What was summed up in the accumulator, as the result's type has it.
  Expr result_of(DType acc_type) {
    const Expr sum{acc_, acc_type, false};
    return acc_type == value_.dtype && (fn_ == "sum" || fn_ == "prod") ? e_.wrapped(sum) : e_.converted(sum, value_.dtype);
  }

  Expr scalar() {
    // A running sum of floats in a double is exact enough for any length; a GPU has few units for them.
    const bool wide = (fn_ == "sum" || fn_ == "prod") && is_floating(value_.dtype) &&
                      (!e_.cuda || (begin_.empty() && numel(sizes_) > kLongSum / 16));
    const DType acc_type = wide ? DType::f64 : value_.dtype;
    e_.line(fmt::format("{} {} = {};", value_type(acc_type), acc_, Emitter::identity(fn_, acc_type)));
    Index reduced;
    const bool part = !begin_.empty();
    if (part) {
      const VarId k = e_.summed(e_.variable("k", numel(sizes_)));
      e_.open(fmt::format("for ({3} {0} = {1}; {0} < {2}; ++{0}) {{", e_.name(k), begin_, end_, e_.index_type), {k});
      reduced = e_.unflatten(Affine::variable(k), sizes_);
    } else {
      for (const auto size : sizes_) reduced.push_back(Affine::variable(e_.summed(e_.open_loop("k", size))));
    }
    update(acc_, acc_type, term(reduced));
    for (std::size_t i = 0; i < (part ? 1 : sizes_.size()); ++i) e_.close();
    return result_of(acc_type);
  }

  // CUDA: each thread its part of the row, then all together.
  Expr shared_out() {
    const bool vector = e_.row_group.vector;
    const bool is_float = value_.dtype == DType::f32;
    if (vector && !is_float) e_.set_trouble("vectors of no floats");
    const DType acc_type = is_16_bit() ? DType::f32 : value_.dtype;
    const std::string start = Emitter::identity(fn_, acc_type);
    const std::string part = e_.unique("part");
    e_.line(vector ? fmt::format("kw_vec {} = kw_splat({});", part, start)
                   : fmt::format("{} {} = {};", value_type(acc_type), part, start));
    e_.row_group.loop(numel(sizes_), [&](VarId j) {
      const Expr next = term(e_.unflatten(Affine::variable(j), sizes_));
      update(part, acc_type, vector ? e_.as_vector(next) : next);
    });
    const std::string own = vector ? fmt::format("kw_{}({})", fn_, part) : part;
    e_.line(fmt::format("const {} {} = {};", value_type(acc_type), acc_, fmt::format(fmt::runtime(e_.row_group.join), fn_, own)));
    return result_of(acc_type);
  }

  [[nodiscard]] bool is_16_bit() const { return value_.dtype == DType::f16 || value_.dtype == DType::bf16; }

  // One result for each lane: the reduced dimensions are plain loops.
  Expr columns() {
    if (!e_.columns) e_.set_trouble("a reduction for each lane");
    e_.need("splat");
    const bool block = fn_ == "sum" && numel(sizes_) > kLongSum && sizes_[0] > 1;
    e_.line(fmt::format("kw_vec {} = kw_splat({});", acc_, Emitter::identity(fn_, DType::f32)));
    Index reduced;
    std::string inner = acc_;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (i == 0 && block && sizes_.size() == 1) {
        const VarId k = e_.variable("k", sizes_[0]);
        const std::string base = e_.unique("block");
        e_.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += 512) {{", base, sizes_[0]));
        inner = open_partial();
        e_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2} && {0} < {1} + 512; ++{0}) {{", e_.name(k), base, sizes_[0]),
                {k});
        reduced.push_back(Affine::variable(k));
        continue;
      }
      reduced.push_back(Affine::variable(e_.open_loop("k", sizes_[i])));
      if (i == 0 && block) inner = open_partial();
    }
    const Expr next = term(reduced);
    update(inner, DType::f32, e_.as_vector(next));
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool last = i + 1 == sizes_.size();
      if (last && block && sizes_.size() > 1) e_.line(fmt::format("{} += {};", acc_, inner));
      e_.close();
    }
    if (block && sizes_.size() == 1) {
      e_.line(fmt::format("{} += {};", acc_, inner));
      e_.close();
    }
    Expr result{acc_, value_.dtype, true};
    if (is_floating(value_.dtype) || value_.dtype == DType::boolean) return result;
    // Lanes are floats, which have whole numbers only up to a point.
    const bool known = next.bound >= 0 && fn_ != "prod";
    result.bound = known ? next.bound * static_cast<double>(fn_ == "sum" ? numel(sizes_) : 1) : -1;
    if (!known || result.bound >= (1 << 24)) e_.set_trouble("whole numbers of any size in lanes");
    return e_.wrapped(result);
  }

  std::string open_partial() {
    std::string partial = e_.unique("partial");
    e_.line(fmt::format("kw_vec {} = kw_splat(0.0f);", partial));
    return partial;
  }

  // Along the innermost dimension in vectors; `flat`: all reduced dimensions as one.
  Expr lanes(bool flat) {
    const ReduceStyle& style = e_.reduce_style;
    const std::int64_t count = flat ? numel(sizes_) : sizes_.back();
    const bool sum = fn_ == "sum";
    const bool asked = !style.block.empty() && sum && numel(sizes_) > 256;
    blocked_ = asked || (sum && numel(sizes_) > kLongSum * kMostLanesOfAny);
    if (asked) e_.use("blocked_sums");
    e_.need("splat");
    total_ = acc_;
    const std::string total_type = blocked_ ? "double" : "float";
    const bool outside = blocked_ || count % kMostLanesOfAny != 0 || !flat || !begin_.empty();
    if (outside)
      e_.line(fmt::format("{} {} = {};", total_type, total_, Emitter::identity(fn_, blocked_ ? DType::f64 : DType::f32)));
    Index outer;
    if (!flat) {
      if (!blocked_) open_accumulators();
      for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
        outer.push_back(Affine::variable(e_.open_loop("k", sizes_[i])));
        if (i == 0 && blocked_) open_accumulators();
      }
      inner_loops(outer, "0", fmt::format("{}", count), count, flat);
      for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
        if (i + 2 == sizes_.size() && blocked_) close_accumulators(true);
        e_.close();
      }
      if (!blocked_) close_accumulators(true);
    } else if (blocked_) {
      const std::string block = style.block.empty() ? "16384" : style.block;
      const std::string begin = e_.unique("block");
      const std::string last = end_.empty() ? fmt::format("{}", count) : end_;
      e_.open(
          fmt::format("for (std::int64_t {0} = {3}; {0} < {1}; {0} += {2}) {{", begin, last, block, begin_.empty() ? "0" : begin_));
      const std::string end = e_.unique("end");
      e_.line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", end, begin, block, last));
      open_accumulators();
      inner_loops({}, begin, end, count, flat);
      close_accumulators(true);
      e_.close();
    } else {
      open_accumulators();
      inner_loops({}, begin_.empty() ? "0" : begin_, end_.empty() ? fmt::format("{}", count) : end_, count, flat);
      close_accumulators(outside);
      if (!outside) return {total_, value_.dtype, false};
    }
    if (!blocked_) return {total_, value_.dtype, false};
    return {fmt::format("float({})", total_), value_.dtype, false};
  }

  void open_accumulators() {
    const std::string many = e_.reduce_style.accumulators;
    const std::string start = fmt::format("kw_splat({})", Emitter::identity(fn_, DType::f32));
    lanes_ = e_.unique("lanes");
    if (many.empty()) {
      e_.line(fmt::format("kw_vec {} = {};", lanes_, start));
    } else {
      e_.use("multiple_accumulators");
      e_.line(fmt::format("kw_vec {}[{}];", lanes_, many));
      e_.line(fmt::format("for (int u = 0; u < {}; ++u) {}[u] = {};", many, lanes_, start));
    }
  }

  void close_accumulators(bool into_total) {
    const std::string many = e_.reduce_style.accumulators;
    std::string joined = lanes_;
    if (!many.empty()) {
      joined = lanes_ + "[0]";
      const Expr sum = e_.combine(fn_, {joined, DType::f32, true}, {lanes_ + "[u]", DType::f32, true});
      e_.line(fmt::format("for (int u = 1; u < {}; ++u) {} = {};", many, joined, sum.text));
    }
    const Expr across = e_.across_lanes(fn_, {joined, DType::f32, true});
    if (into_total) {
      update(total_, blocked_ ? DType::f64 : DType::f32, across);
    } else {
      e_.line(fmt::format("const float {} = {};", total_, across.text));
    }
  }

  // The vector loop from begin to end, the vectors that are left over by several accumulators, and the single elements left over.
  void inner_loops(const Index& outer, const std::string& begin, const std::string& end, std::int64_t count, bool flat) {
    const std::string many = e_.reduce_style.accumulators;
    const bool simple = begin == "0";
    const auto start_after = [&](const std::string& step) {
      return simple ? fmt::format("{0} / ({1}) * ({1})", end, step)
                    : fmt::format("{0} + ({1} - {0}) / ({2}) * ({2})", begin, end, step);
    };
    const auto body = [&](VarId j, const std::string& acc, bool vector) {
      Index reduced = outer;
      if (flat) {
        reduced = e_.unflatten(Affine::variable(j), sizes_);
      } else {
        reduced.push_back(Affine::variable(j));
      }
      const Expr next = term(reduced);
      if (e_.row_copy.value == value_.operands[0]) e_.store(e_.row_copy.buffer, operand_index(value_, index_, reduced), next);
      const Expr counting = e_.part_of == j ? e_.within_part(next, Emitter::identity(fn_, DType::f32)) : next;
      update(acc, vector || !blocked_ ? DType::f32 : DType::f64, vector ? e_.as_vector(counting) : next);
    };
    std::string from = begin;
    if (!many.empty()) {
      const std::string step = fmt::format("{} * kw_lanes", many);
      const std::string first = e_.unique("j");
      e_.open(fmt::format("for (std::int64_t {0} = {1}; {0} + {3} <= {2}; {0} += {3}) {{", first, begin, end, step));
      e_.open(fmt::format("#pragma GCC unroll 8\nfor (int u = 0; u < {}; ++u) {{", many));
      const VarId j = e_.define("at", fmt::format("{} + u * kw_lanes", first), {0, count - 1}, true);
      body(j, lanes_ + "[u]", true);
      e_.end_of_row_pass(j);
      e_.close();
      e_.close();
      from = start_after(step);
    }
    const std::int64_t certain = many.empty() ? kMostLanesOfAny : 8 * kMostLanesOfAny;
    if (many.empty() || count % certain != 0 || !simple) {
      const VarId j = e_.variable("j", count, true);
      const bool unroll = e_.reduce_style.unroll && many.empty();
      if (unroll) e_.use("unroll_inner");
      e_.open(fmt::format("{4}for (std::int64_t {0} = {1}; {0} + {3} <= {2}; {0} += {3}) {{", e_.name(j), from, end, "kw_lanes",
                          unroll ? "#pragma GCC unroll kw_unroll\n" : ""),
              {j});
      body(j, many.empty() ? lanes_ : lanes_ + "[0]", true);
      if (many.empty()) e_.end_of_row_pass(j);
      e_.close();
    }
    const auto masked = [&] {
      const VarId j = e_.open_tail(count);
      body(j, many.empty() ? lanes_ : lanes_ + "[0]", true);
      e_.close_tail();
    };
    if (count % kMostLanesOfAny != 0 && simple && e_.reduce_style.masked_tails && e_.attempt(masked)) return;
    if (count % kMostLanesOfAny != 0) {
      const VarId j = e_.summed(e_.variable("j", count));
      e_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", e_.name(j), start_after("kw_lanes"), end), {j});
      body(j, total_, false);
      e_.close();
    }
  }

  Emitter& e_;
  const Value& value_;
  Index index_;
  std::string fn_;
  Shape shape_;
  Shape sizes_;
  Index fixed_;
  std::string begin_;
  std::string end_;
  std::string acc_;
  std::string total_;
  std::string lanes_;
  bool blocked_ = false;
};

Expr Emitter::emit_reduce(ValueId id, const Index& index) {
  Expr result;
  at_depth(depth_of(index), [&] { result = ReduceEmitter(*this, graph_.at(id), index).write(); });
  result.depth = depth_of(index);
  return result;
}

Expr Emitter::reduce_part(ValueId value, const Index& index, const Index& fixed, const std::string& begin, const std::string& end) {
  return ReduceEmitter(*this, graph_.at(value), index).write_part(fixed, begin, end);
}

Expr Emitter::emit_arg_reduce(const Value& value, const Index& index) {
  if (varies(index)) set_trouble("an argument reduction for each lane");
  Expr result;
  at_depth(depth_of(index), [&] {
    const auto dim = static_cast<std::size_t>(value.dims[0]);
    const Shape& shape = graph_.shape(value.operands[0]);
    const DType dtype = graph_.dtype(value.operands[0]);
    const std::string best = unique("best");
    const std::string position = unique("position");
    line(fmt::format("{} {} = {};", value_type(dtype), best, identity(value.fn, dtype)));
    line(fmt::format("std::int64_t {} = -1;", position));
    const VarId k = open_loop("k", shape[dim]);
    Index inner = index;
    inner.insert(inner.begin() + static_cast<std::ptrdiff_t>(dim), Affine::variable(k));
    const Expr next = named("next", emit(value.operands[0], inner).text, dtype, false, {Affine::variable(k)});
    std::string better = fmt::format("{1} < 0 || {0} {3} {2}", next.text, position, best, value.fn == "max" ? ">" : "<");
    if (is_floating(dtype)) better += fmt::format(" || ({0} != {0} && {1} == {1})", next.text, best);  // the first NaN wins
    open(fmt::format("if ({}) {{", better));
    line(fmt::format("{} = {};", best, next.text));
    line(fmt::format("{} = {};", position, name(k)));
    close();
    close();
    result = {position, DType::i64, false};
  });
  result.depth = depth_of(index);
  return result;
}

Expr Emitter::emit_window(const Value& value, const Index& index) {
  if (varies(index)) set_trouble("a window for each lane");
  Expr result;
  at_depth(depth_of(index), [&] {
    const Shape& shape = graph_.shape(value.operands[0]);
    const bool sum = value.fn == "sum";
    const DType acc_type = sum && is_floating(value.dtype) ? DType::f64 : value.dtype;
    const std::string acc = unique("window");
    line(fmt::format("{} {} = {};", value_type(acc_type), acc, identity(value.fn, acc_type)));
    Index inner;
    int opened = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const WindowDim& window = value.window[d];
      if (window.size == 1 && window.stride == 1 && window.before == 0) {
        inner.push_back(index[d]);
        continue;
      }
      const VarId k = summed(open_loop("k", window.size));
      ++opened;
      const Affine position = index[d] * window.stride + Affine::variable(k) * window.dilation - Affine(window.before);
      const Range range = range_of(position, ranges());
      if (range.low >= 0 && range.high < shape[d]) {
        inner.push_back(position);
        continue;
      }
      const VarId at = define("at", text(position), {0, shape[d] - 1});
      line(fmt::format("if ({0} < 0 || {0} >= {1}) continue;", name(at), shape[d]));
      inner.push_back(Affine::variable(at));
    }
    const Expr next = emit(value.operands[0], inner);
    if (sum) {
      line(fmt::format("{} += {};", acc, next.text));
    } else {
      line(fmt::format("{} = {};", acc, combine(value.fn, {acc, value.dtype, false}, next).text));
    }
    for (int i = 0; i < opened; ++i) close();
    result = converted({acc, acc_type, false}, value.dtype);
  });
  result.depth = depth_of(index);
  return result;
}

Expr Emitter::emit_product(const Value& value, const Index& index) {
  if (varies(index)) set_trouble("a product for each lane");
  Expr result;
  at_depth(depth_of(index), [&] {
    const std::string acc = unique("dot");
    const DType acc_type = !is_floating(value.dtype) ? value.dtype : cuda && value.dtype != DType::f64 ? DType::f32 : DType::f64;
    line(fmt::format("{} {} = {};", value_type(acc_type), acc, number_text(0, acc_type)));
    const VarId k = summed(open_loop("k", graph_.shape(value.operands[0])[2]));
    const Expr left = emit(value.operands[0], {index[0], index[1], Affine::variable(k)});
    const Expr right = emit(value.operands[1], {index[0], Affine::variable(k), index[2]});
    const bool cast = acc_type == DType::f64 && value.dtype != DType::f64;
    line(fmt::format("{} += {} * {};", acc, cast ? "double(" + left.text + ")" : left.text, right.text));
    close();
    result = acc_type == value.dtype ? wrapped({acc, acc_type, false}) : converted({acc, acc_type, false}, value.dtype);
  });
  result.depth = depth_of(index);
  return result;
}

Emitter::Place Emitter::place_of(ValueId id, const Index& index) {
  const Value& value = graph_.at(id);
  if (const Buffer* buffer = buffer_of(id)) return {buffer->name, position_in(*buffer, index), buffer->dtype, true};
  if (value.kind == ValueKind::argument) {
    Affine position;
    for (std::size_t d = 0; d < value.shape.size(); ++d)
      position = position + index[d] * (value.shape[d] == 1 ? 0 : value.strides[d]);
    return {value.name, position, value.dtype, true};
  }
  if (value.kind == ValueKind::reshape)
    return place_of(value.operands[0], unflatten(flatten(index, value.shape), graph_.shape(value.operands[0])));
  if (value.kind != ValueKind::view) return {};
  return place_of(value.operands[0], behind_view(value, index));
}

bool Emitter::emit_pick(const Value& value, const Index& index, Expr& result) {
  const Place positions = place_of(value.operands[1], index);
  if (!positions.found || positions.dtype != DType::i64) return false;
  const VarId vector = vector_variable(positions.position);
  if (vector < 0 || vector == part_of || positions.position.coefficient(vector) != 1) return false;
  const auto dim = static_cast<std::size_t>(value.dims[0]);
  Index first = index;
  first[dim] = Affine(0);
  Index second = index;
  second[dim] = Affine(1);
  const Place from = place_of(value.operands[0], first);
  if (!from.found || from.dtype != DType::f32) return false;
  const std::int64_t stride = place_of(value.operands[0], second).position.constant - from.position.constant;
  const std::int64_t across = from.position.coefficient(vector);
  const Affine base = from.position - Affine::variable(vector) * across;
  need("pick");
  result = {fmt::format("kw_pick({} + {}, {} + {}, {}, {})", from.pointer, text(base), positions.pointer, text(positions.position),
                        stride, across),
            value.dtype, true, depth_of(index)};
  // The next row that is picked from, as much of it with each vector as makes the whole in the end.
  const std::int64_t picks = variables_[static_cast<std::size_t>(vector)].range.high + 1;
  const std::int64_t count = graph_.shape(value.operands[0])[dim];
  const std::int64_t share = (count + picks - 1) / picks;
  constexpr std::int64_t kMostShare = 8;
  if (picking_row < 0 || stride != 1 || across != 0 || share > kMostShare || from.position.coefficient(picking_row) == 0)
    return true;
  line(
      fmt::format("for (int line = 0; line < (kw_lanes * {0} + 15) / 16; ++line)\n"
                  "  __builtin_prefetch({1} + {2} + {3} * {0} + line * 16);",
                  share, from.pointer, text(base + Affine(from.position.coefficient(picking_row))), name(vector)));
  use("prefetch_gather");
  return true;
}

// The same columns of the row that is picked some rows later.
void Emitter::prefetch_later_pick(const Value& value, const Index& index) {
  if (picking_row < 0 || depth_of(index) != depth()) return;
  if (later_row < 0) {
    constexpr std::int64_t kRowsAhead = 4;
    const Variable row = variables_[static_cast<std::size_t>(picking_row)];
    at_depth(row.depth, [&] {
      later_row =
          define("later", fmt::format("{0} + {1} <= {2} ? {0} + {1} : {2}", row.name, kRowsAhead, row.range.high), row.range);
    });
  }
  Index later;
  for (const auto& part : index) {
    const std::int64_t scale = part.coefficient(picking_row);
    later.push_back(part - Affine::variable(picking_row) * scale + Affine::variable(later_row) * scale);
  }
  const Place position = place_of(value.operands[1], later);
  if (!position.found || position.position.coefficient(later_row) == 0 || varies({position.position})) return;
  const auto dim = static_cast<std::size_t>(value.dims[0]);
  later[dim] = Affine(0);
  Index next = later;
  next[dim] = Affine(1);
  const Place from = place_of(value.operands[0], later);
  if (!from.found || from.dtype != DType::f32) return;
  const std::int64_t stride = place_of(value.operands[0], next).position.constant - from.position.constant;
  line(fmt::format("__builtin_prefetch({} + {} + {}[{}] * {});", from.pointer, text(from.position), position.pointer,
                   text(position.position), stride));
  use("prefetch_gather");
}

Expr Emitter::emit_gather(const Value& value, const Index& index) {
  Expr picked;
  if (varies(index) && emit_pick(value, index, picked)) return picked;
  prefetch_later_pick(value, index);
  const Expr position = emit(value.operands[1], index);
  if (position.vector) {
    set_trouble("positions read from memory in lanes");
    return {"0", value.dtype, true};
  }
  const auto dim = static_cast<std::size_t>(value.dims[0]);
  const std::int64_t count = graph_.shape(value.operands[0])[dim];
  const int at = std::max(position.depth, 0);
  const std::string known = "pick " + position.text;
  VarId pick = -1;
  at_depth(std::min(at, depth()), [&] {
    if (const auto found = scopes_.back().integers.find(known); found != scopes_.back().integers.end()) {
      pick = found->second;
    } else {
      pick = define("pick", position.text, {0, count - 1});
      scopes_.back().integers[known] = pick;
    }
  });
  Index inner = index;
  inner[dim] = Affine::variable(pick);
  return emit(value.operands[0], inner);
}

Expr Emitter::emit_pad(const Value& value, const Index& index) {
  const Shape& shape = graph_.shape(value.operands[0]);
  Index inner;
  std::string inside;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Affine position = index[d] - Affine(value.before[d]);
    const Range range = range_of(position, ranges());
    if (range.low >= 0 && range.high < shape[d]) {
      inner.push_back(position);
      continue;
    }
    if (varies({position})) set_trouble("an edge within a vector");
    // Reads stay inside: what is read there is not used.
    const std::string at = "(" + text(position) + ")";
    at_depth(depth_of({position}), [&] {
      inner.push_back(
          Affine::variable(define("at", fmt::format("{0} < 0 ? 0 : {0} < {1} ? {0} : {1} - 1", at, shape[d]), {0, shape[d] - 1})));
    });
    inside += fmt::format("{0}{1} >= 0 && {1} < {2}", inside.empty() ? "" : " && ", at, shape[d]);
  }
  Expr value_inside = emit(value.operands[0], inner);
  if (inside.empty()) return value_inside;
  return apply("where", {{"(" + inside + ")", DType::boolean, false, depth_of(index)}, value_inside, emit(value.operands[1], {})},
               value.dtype);
}

}  // namespace kw
