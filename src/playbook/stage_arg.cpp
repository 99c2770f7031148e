// Positions of extremes along rows or down columns.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/stage_scan.h"

namespace kw {
namespace {

constexpr std::int64_t kArgTile = 1024;  // columns of a tile: their best values and positions stay in the nearest cache

constexpr const char* kBetter =
    R"(// Whether a candidate beats the best so far: NaN beats every number, and of equals the first wins.
template <class T>
static inline bool kw_beats_{0}(T value, std::int64_t position, T best, std::int64_t best_position) {{
  if (best != best) return value != value && position < best_position;
  return value != value || value {1} best || (value == best && position < best_position);
}})";

constexpr const char* kBetterLanes = R"(// The lanes that beat the best so far; NaN beats every number, and nothing beats NaN.
KW_INLINE kw_mask kw_beating_{0}(kw_vec value, kw_vec best) {{ return ~(value {1} best) & (best == best); }})";

constexpr const char* kJoinLanes =
    R"(// Lanes that meet: the better of the two with its position, of equals the first.
KW_INLINE void kw_join_{0}(kw_vec& best, kw_ivec& position, kw_vec other, kw_ivec other_position) {{
  const kw_mask equal = (other == best) | ((other != other) & (best != best));
  const kw_mask takes = kw_beating_{0}(other, best) | (equal & (other_position < position));
  best = kw_select(takes, other, best);
  position = kw_select_int(takes, other_position, position);
}}
// The first position of the best lane, whose value is `winner`.
KW_INLINE int kw_place_of_{0}(kw_vec best, kw_ivec position, float winner) {{
  const kw_mask there = winner != winner ? best != best : best == winner;
  const kw_ivec places = kw_select_int(there, position, kw_splat_int(__INT_MAX__));
  int first = __INT_MAX__;
  for (int i = 0; i < kw_lanes; ++i) first = places[i] < first ? places[i] : first;
  return first;
}})";

class ArgText {
 public:
  ArgText(StageWriter& writer, const Stage& stage)
      : w_(writer),
        e_(writer.emitter),
        stage_(stage),
        arg_(writer.graph.at(stage.anchor)),
        operand_(arg_.operands[0]),
        inputs_(writer.graph.shape(operand_)),
        dtype_(writer.graph.dtype(operand_)),
        dim_(static_cast<std::size_t>(arg_.dims[0])),
        length_(inputs_[dim_]) {}

  void write() {
    if (numel(inputs_) == 0) return;
    const bool along_rows = dim_ + 1 == inputs_.size();
    const bool vectors = w_.wants("explicit_vectors") && w_.wants("vector_argument") && length_ < (std::int64_t{1} << 30);
    if (along_rows && vectors && length_ >= kMostLanes && w_.attempt([&] { rows(); })) return;
    if (!along_rows && vectors && w_.attempt([&] { columns(); })) return;
    plain();
  }

 private:
  [[nodiscard]] Index with_position(Index others, const Affine& position) const {
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(dim_), position);
    return others;
  }

  void declare_better() { w_.declare(fmt::format(fmt::runtime(kBetter), arg_.fn, arg_.fn == "max" ? ">" : "<")); }

  // best and position take the candidate if it is better.
  void compare(const std::string& value, const std::string& position, const std::string& best, const std::string& best_position) {
    e_.open(fmt::format("if (kw_beats_{}({}, {}, {}, {})) {{", arg_.fn, value, position, best, best_position));
    e_.line(fmt::format("{} = {};", best, value));
    e_.line(fmt::format("{} = {};", best_position, position));
    e_.close();
  }

  void plain() {
    declare_better();
    const Index place = open_flat_loop(w_, "row", arg_.shape, numel(inputs_));
    const std::string best = e_.unique("best");
    const std::string position = e_.unique("position");
    e_.line(fmt::format("{} {} = {};", value_type(dtype_), best, Emitter::identity(arg_.fn, dtype_)));
    e_.line(fmt::format("std::int64_t {} = 0;", position));
    const VarId k = e_.open_loop("k", length_);
    const std::string next = e_.unique("next");
    e_.line(fmt::format("const {} {} = {};", value_type(dtype_), next,
                        e_.emit(operand_, with_position(place, Affine::variable(k))).text));
    compare(next, e_.name(k), best, position);
    e_.close();
    provide_extreme(place, best);
    store_roots(w_, stage_, place, {position, DType::i64, false});
    close_flat_loop(w_, arg_.shape);
  }

  // The extreme itself is a root too where the plan says so.
  void provide_extreme(const Index& index, const std::string& best) {
    for (const ValueId root : stage_.roots)
      if (root != stage_.anchor) e_.provide(root, index, {best, dtype_, false});
  }

  void use_vectors() {
    if (dtype_ != DType::f32) e_.set_trouble("positions of other numbers than float32 in lanes");
    w_.use("explicit_vectors");
    w_.use("vector_argument");
    declare_better();
    for (const char* piece : {"vec", "splat", "select", "splat_int", "select_int"}) e_.need(piece);
    w_.declare(fmt::format(fmt::runtime(kBetterLanes), arg_.fn, arg_.fn == "max" ? "<=" : ">="));
  }

  // Along rows: each lane keeps its best and the step at which it met it; lanes are compared at the end.
  void rows() {
    use_vectors();
    const bool unrolled = w_.use("unroll_inner");
    const std::string many = unrolled ? w_.knob("KW_UNROLL", 4, {2, 4, 8}) : "1";
    const Index row = open_flat_loop(w_, "row", arg_.shape, numel(inputs_));
    const std::string best = e_.unique("best");
    const std::string steps = e_.unique("step_of");
    const std::string u = e_.unique("u");
    const std::string none = Emitter::identity(arg_.fn, DType::f32);
    e_.line(fmt::format("kw_vec {}[{}];", best, many));
    e_.line(fmt::format("kw_ivec {}[{}];", steps, many));
    e_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = kw_splat({3}), {4}[{0}] = kw_splat_int(0);", u, many, best,
                        none, steps));
    const std::string j = e_.unique("j");
    const std::string step = e_.unique("step");
    const std::string stride = unrolled ? fmt::format("{} * kw_lanes", many) : "kw_lanes";
    e_.open(fmt::format("for (std::int64_t {0} = 0; {0} + {1} <= {2}; {0} += {1}) {{", j, stride, length_));
    e_.line(fmt::format("const kw_ivec {} = kw_splat_int(int({}));", step, j));
    e_.open(fmt::format("#pragma GCC unroll 8\nfor (int {0} = 0; {0} < {1}; ++{0}) {{", u, many));
    const VarId at = e_.define("at", fmt::format("{} + {} * kw_lanes", j, u), {0, length_ - 1}, true);
    const std::string next = e_.unique("next");
    e_.line(
        fmt::format("const kw_vec {} = {};", next, e_.as_vector(e_.emit(operand_, with_position(row, Affine::variable(at)))).text));
    const std::string better = e_.unique("better");
    e_.line(fmt::format("const kw_mask {} = kw_beating_{}({}, {}[{}]);", better, arg_.fn, next, best, u));
    e_.line(fmt::format("{0}[{1}] = kw_select({2}, {3}, {0}[{1}]);", best, u, better, next));
    e_.line(fmt::format("{0}[{1}] = kw_select_int({2}, {3}, {0}[{1}]);", steps, u, better, step));
    e_.close();
    e_.close();
    const std::string winner = e_.unique("winner");
    const std::string position = e_.unique("position");
    // Steps become positions; then all lanes come down to one.
    e_.need("iota_int");
    e_.need(arg_.fn);
    w_.declare(fmt::format(fmt::runtime(kJoinLanes), arg_.fn));
    e_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] += kw_iota_int() + {0} * kw_lanes;", u, many, steps));
    if (unrolled)
      e_.line(fmt::format("for (int {0} = 1; {0} < {1}; ++{0}) kw_join_{2}({3}[0], {4}[0], {3}[{0}], {4}[{0}]);", u, many, arg_.fn,
                          best, steps));
    e_.line(fmt::format("float {} = kw_{}({}[0]);", winner, arg_.fn, best));
    e_.line(fmt::format("std::int64_t {} = kw_place_of_{}({}[0], {}[0], {});", position, arg_.fn, best, steps, winner));
    if (unrolled || length_ % kMostLanes != 0) {
      const VarId rest =
          open_part(e_, "k", length_, fmt::format("{0} - {0} % ({1})", length_, stride), fmt::format("{}", length_), false);
      const std::string value = e_.unique("value");
      e_.line(fmt::format("const float {} = {};", value, e_.emit(operand_, with_position(row, Affine::variable(rest))).text));
      compare(value, e_.name(rest), winner, position);
      e_.close();
    }
    provide_extreme(row, winner);
    store_roots(w_, stage_, row, {position, DType::i64, false});
    close_flat_loop(w_, arg_.shape);
  }

  // Down columns: a tile of them side by side, one row after the other.
  void columns() {
    use_vectors();
    const std::int64_t width = inputs_.back();
    const std::int64_t tile = std::min(kArgTile, width);
    const std::int64_t tiles = (width + tile - 1) / tile;
    Shape tasks = arg_.shape;
    tasks.back() = tiles;
    const Index place = open_flat_loop(w_, "task", tasks, numel(inputs_));
    for (const char* piece : {"load", "store", "load_int", "store_int"}) e_.need(piece);
    const std::string best = e_.unique("best");
    const std::string rows = e_.unique("row_of");
    e_.line(fmt::format("alignas(64) float {}[{}];", best, tile));
    e_.line(fmt::format("alignas(64) int {}[{}];", rows, tile));
    e_.line(fmt::format("for (int i = 0; i < {0}; ++i) {1}[i] = {2}, {3}[i] = 0;", tile, best,
                        Emitter::identity(arg_.fn, DType::f32), rows));
    const std::string begin = e_.unique("begin");
    const std::string end = e_.unique("end");
    e_.line(fmt::format("const std::int64_t {} = ({}) * {};", begin, e_.text(place.back()), tile));
    e_.line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", end, begin, tile, width));
    const auto operand_at = [&](VarId j, VarId k) {
      Index column = place;
      column.back() = Affine::variable(j);
      return e_.emit(operand_, with_position(column, Affine::variable(k)));
    };
    // One pass over the columns for `many` rows from `first` on: the best so far is read and written once for them.
    const auto pass = [&](const std::string& first, int many) {
      VarId j = open_part(e_, "j", width, begin, end, true);
      std::string slot = fmt::format("{} - {}", e_.name(j), begin);
      const std::string lanes = e_.unique("lanes");
      const std::string row_lanes = e_.unique("row_lanes");
      e_.line(fmt::format("kw_vec {} = kw_load({} + {});", lanes, best, slot));
      e_.line(fmt::format("kw_ivec {} = kw_load_int({} + {});", row_lanes, rows, slot));
      const auto open_rows = [&] {
        const std::string u = e_.unique("u");
        e_.open(fmt::format("#pragma GCC unroll 4\nfor (int {0} = 0; {0} < {1}; ++{0}) {{", u, many));
        return e_.define("k", fmt::format("{} + {}", first, u), {0, length_ - 1});
      };
      VarId k = open_rows();
      std::string next = e_.unique("next");
      const std::string better = e_.unique("better");
      e_.line(fmt::format("const kw_vec {} = {};", next, e_.as_vector(operand_at(j, k)).text));
      e_.line(fmt::format("const kw_mask {} = kw_beating_{}({}, {});", better, arg_.fn, next, lanes));
      e_.line(fmt::format("{0} = kw_select({1}, {2}, {0});", lanes, better, next));
      e_.line(fmt::format("{0} = kw_select_int({1}, kw_splat_int(int({2})), {0});", row_lanes, better, e_.name(k)));
      e_.close();
      e_.line(fmt::format("kw_store({} + {}, {});", best, slot, lanes));
      e_.line(fmt::format("kw_store_int({} + {}, {});", rows, slot, row_lanes));
      e_.close();
      if (width % kMostLanes == 0) return;
      j = open_part(e_, "j", width, fmt::format("{1} - ({1} - {0}) % kw_lanes", begin, end), end, false);
      slot = fmt::format("{} - {}", e_.name(j), begin);
      k = open_rows();
      next = e_.unique("next");
      e_.line(fmt::format("const float {} = {};", next, operand_at(j, k).text));
      e_.open(fmt::format("if (kw_beats_{0}({1}, {2}, {3}[{4}], {5}[{4}])) {{", arg_.fn, next, e_.name(k), best, slot, rows));
      e_.line(fmt::format("{}[{}] = {};", best, slot, next));
      e_.line(fmt::format("{}[{}] = int({});", rows, slot, e_.name(k)));
      e_.close();
      e_.close();
      e_.close();
    };
    constexpr int kRowsTogether = 4;
    const std::string first = e_.unique("first");
    if (length_ >= kRowsTogether) {
      e_.open(fmt::format("for (std::int64_t {0} = 0; {0} + {1} <= {2}; {0} += {1}) {{", first, kRowsTogether, length_));
      pass(first, kRowsTogether);
      e_.close();
    }
    if (length_ % kRowsTogether != 0) {
      e_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", first, length_ / kRowsTogether * kRowsTogether,
                          length_));
      pass(first, 1);
      e_.close();
    }
    const VarId j = open_part(e_, "j", width, begin, end, false);
    Index out = place;
    out.back() = Affine::variable(j);
    provide_extreme(out, fmt::format("{}[{} - {}]", best, e_.name(j), begin));
    store_roots(w_, stage_, out, {fmt::format("std::int64_t({}[{} - {}])", rows, e_.name(j), begin), DType::i64, false});
    e_.close();
    close_flat_loop(w_, tasks);
  }

  StageWriter& w_;
  Emitter& e_;
  const Stage& stage_;
  const Value& arg_;
  ValueId operand_;
  Shape inputs_;
  DType dtype_;
  std::size_t dim_;
  std::int64_t length_;
};

std::string arg_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::arg_reduce) return "no positions of extremes";
  return roots_not_like_anchor(writer, stage);
}

void write_arg_stage(StageWriter& writer, const Stage& stage) { ArgText(writer, stage).write(); }

}  // namespace

const Family arg_family{"arg", arg_why_not, write_arg_stage};

}  // namespace kw
