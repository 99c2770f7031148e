// Running sums, products and extremes: along rows, or down columns.
#include "playbook/stage_scan.h"

#include <algorithm>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::int64_t kScanTile = 512;         // columns of a tile: their running values stay in the nearest cache
constexpr std::int64_t kLongScanRow = 1 << 15;  // elements from which on a row is worth splitting

constexpr const char* kMovedLanes = R"(// The lanes of v moved up by `by` places, those of fill before them.
template <int by, int... lane>
KW_INLINE kw_vec kw_moved_up(kw_vec fill, kw_vec v, std::integer_sequence<int, lane...>) {{
  return __builtin_shufflevector(fill, v, (lane < by ? lane : kw_lanes + lane - by)...);
}})";
constexpr const char* kMovedDown = R"(// The lanes of v moved down by `by` places, those of fill behind them.
template <int by, int... lane>
KW_INLINE kw_vec kw_moved_down(kw_vec fill, kw_vec v, std::integer_sequence<int, lane...>) {{
  return __builtin_shufflevector(v, fill, (lane + by)...);
}})";

constexpr const char* kVectorScan = R"(// Running {0} of the lanes, from the {3}: as many steps as the number of lanes has bits.
KW_INLINE kw_vec kw_running_{0}(kw_vec v) {{
  constexpr auto lanes = std::make_integer_sequence<int, kw_lanes>();
  const kw_vec none = kw_splat({1});
  v = {2};
  v = {4};
  if constexpr (kw_lanes > 4) v = {5};
  if constexpr (kw_lanes > 8) v = {6};
  return v;
}})";

// A line of running values in double, for sums and products of long columns.
constexpr const char* kWideStep = R"(// running = running {1} x for each lane, in double; what it comes to, as floats.
template <int... lane>
KW_INLINE kw_vec kw_wide_step_{0}(double* running, kw_vec x, std::integer_sequence<int, lane...>) {{
  typedef float kw_half __attribute__((vector_size(2 * kw_lanes)));
  typedef double kw_wide __attribute__((vector_size(4 * kw_lanes)));
  const kw_half part[2] = {{__builtin_shufflevector(x, x, lane...), __builtin_shufflevector(x, x, (lane + kw_lanes / 2)...)}};
  kw_half sum[2];
  for (int i = 0; i < 2; ++i) {{
    kw_wide line;
    __builtin_memcpy(&line, running + i * kw_lanes / 2, sizeof line);
    line = line {1} __builtin_convertvector(part[i], kw_wide);
    __builtin_memcpy(running + i * kw_lanes / 2, &line, sizeof line);
    sum[i] = __builtin_convertvector(line, kw_half);
  }}
  return __builtin_shufflevector(sum[0], sum[1], lane..., (lane + kw_lanes / 2)...);
}}
KW_INLINE kw_vec kw_wide_{0}(double* running, kw_vec x) {{
  return kw_wide_step_{0}(running, x, std::make_integer_sequence<int, kw_lanes / 2>());
}})";

constexpr const char* kWideLine = R"(// A line of running values in double, as floats.
template <int... lane>
KW_INLINE kw_vec kw_wide_line(const double* running, std::integer_sequence<int, lane...>) {{
  return kw_vec{{float(running[lane])...}};
}})";

class ScanText {
 public:
  ScanText(StageWriter& writer, const Stage& stage)
      : w_(writer),
        e_(writer.emitter),
        stage_(stage),
        scan_(writer.graph.at(stage.anchor)),
        operand_(scan_.operands[0]),
        dim_(static_cast<std::size_t>(scan_.dims[0])),
        length_(scan_.shape[dim_]),
        from_end_(scan_.number == kScanFromTheEnd),
        before_(scan_.number == kScanOfBefore) {
    // A running sum or product of floats is kept in double: it is as precise as PyTorch's for any length.
    const bool wide = (scan_.fn == "sum" || scan_.fn == "prod") && is_floating(scan_.dtype);
    carry_type_ = wide ? DType::f64 : scan_.dtype;
  }

  void write() {
    if (numel(scan_.shape) == 0) return;
    const bool along_rows = dim_ + 1 == scan_.shape.size();
    if (!along_rows && w_.wants("scan_columns")) {
      if (w_.wants("explicit_vectors") && w_.attempt([&] { columns(true); })) return;
      return columns(false);
    }
    const bool vectors = along_rows && w_.wants("vector_scan") && w_.wants("explicit_vectors");
    if (along_rows && w_.wants("split_scan") && length_ >= kLongScanRow && w_.machine.threads > 1 &&
        numel(scan_.shape) / length_ < 2 * w_.machine.threads) {
      if (vectors && w_.attempt([&] { split(true); })) return;
      return split(false);
    }
    if (vectors && w_.attempt([&] { rows(true); })) return;
    rows(false);
  }

 private:
  // Everything but the scanned dimension.
  [[nodiscard]] Shape others() const {
    Shape shape = scan_.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim_));
    return shape;
  }
  [[nodiscard]] Index with_position(Index others, const Affine& position) const {
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(dim_), position);
    return others;
  }

  void rows(bool vectors) {
    const Index row = open_flat_loop(w_, "row", others(), numel(scan_.shape));
    const std::string carry = e_.unique("running");
    e_.line(fmt::format("{} {} = {};", value_type(carry_type_), carry, Emitter::identity(scan_.fn, carry_type_)));
    along(row, carry, "0", fmt::format("{}", length_), vectors, length_ % kMostLanes == 0);
    close_flat_loop(w_, others());
  }

  // The running values of positions [begin, end) of a row, in order, from what `carry` is.
  void along(const Index& row, const std::string& carry, const std::string& begin, const std::string& end, bool vectors,
             bool whole) {
    const std::string bound =
        begin == "0" ? fmt::format("{0} - {0} % kw_lanes", end) : fmt::format("{1} - ({1} - {0}) % kw_lanes", begin, end);
    const std::string middle = whole ? end : bound;
    if (!vectors) return single(row, carry, begin, end);
    declare_vector_scan();
    w_.use("explicit_vectors");
    w_.use("vector_scan");
    if (from_end_ && !whole) single(row, carry, middle, end);
    const VarId j = e_.variable("j", length_, true);
    e_.open(fmt::format(fmt::runtime(from_end_ ? "for (std::int64_t {0} = {2} - kw_lanes; {0} >= {1}; {0} -= kw_lanes) {{"
                                               : "for (std::int64_t {0} = {1}; {0} < {2}; {0} += kw_lanes) {{"),
                        e_.name(j), begin, middle),
            {j});
    const Index at = with_position(row, Affine::variable(j));
    const Expr next = e_.as_vector(e_.emit(operand_, at));
    const std::string part = e_.unique("part");
    e_.line(fmt::format("const kw_vec {} = kw_running_{}{}({});", part, scan_.fn, from_end_ ? "_back" : "", next.text));
    const std::string running = e_.unique("here");
    const std::string before = carry_type_ == DType::f64 ? fmt::format("float({})", carry) : carry;
    e_.line(
        fmt::format("const kw_vec {} = {};", running,
                    e_.combine(scan_.fn, {part, DType::f32, true}, {fmt::format("kw_splat({})", before), DType::f32, true}).text));
    Expr here{running, scan_.dtype, true};
    if (before_) {
      here.text = e_.unique("before");
      e_.line(fmt::format("const kw_vec {} = kw_moved_up<1>(kw_splat({}), {}, std::make_integer_sequence<int, kw_lanes>());",
                          here.text, before, running));
    }
    store_roots(w_, stage_, at, here);
    advance(carry, fmt::format("{}[{}]", part, from_end_ ? "0" : "kw_lanes - 1"));
    e_.close();
    if (!from_end_ && !whole) single(row, carry, middle, end);
  }

  void single(const Index& row, const std::string& carry, const std::string& begin, const std::string& end) {
    const VarId j = e_.variable("j", length_);
    e_.open(fmt::format(fmt::runtime(from_end_ ? "for (std::int64_t {0} = {2} - 1; {0} >= {1}; --{0}) {{"
                                               : "for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{"),
                        e_.name(j), begin, end),
            {j});
    const Index at = with_position(row, Affine::variable(j));
    advance_and_store(carry, at);
    e_.close();
  }

  // One position by itself.
  void advance_and_store(const std::string& carry, const Index& at) {
    const std::string next = e_.emit(operand_, at).text;
    if (!before_) {
      advance(carry, next);
      return store_roots(w_, stage_, at, from_carry(carry));
    }
    const std::string before = e_.unique("before");  // what is stored may be computed where the sum has gone on
    e_.line(fmt::format("const {} {} = {};", value_type(scan_.dtype), before, from_carry(carry).text));
    advance(carry, next);
    store_roots(w_, stage_, at, {before, scan_.dtype, false});
  }

  // carry = carry (fn) next.
  void advance(const std::string& carry, const std::string& next) {
    if (scan_.fn == "sum" || scan_.fn == "prod") {
      e_.line(fmt::format("{} {}= {};", carry, scan_.fn == "sum" ? "+" : "*", next));
    } else {
      e_.line(fmt::format("{} = {};", carry, e_.combine(scan_.fn, {carry, carry_type_, false}, {next, carry_type_, false}).text));
    }
  }
  Expr from_carry(const std::string& carry) { return e_.converted({carry, carry_type_, false}, scan_.dtype); }

  // Chunks of a row for different threads: their totals first, then each from what is before it.
  void split(bool vectors) {
    w_.use("split_scan");
    const std::int64_t chunks = w_.machine.threads;
    const std::int64_t chunk = ((length_ + chunks - 1) / chunks + kMostLanes - 1) / kMostLanes * kMostLanes;
    const Shape outer = others();
    const std::int64_t count = numel(outer);
    const std::string type(value_type(carry_type_));
    const std::string totals = w_.scratch("totals", type, fmt::format("{}", count * chunks));
    const auto open_chunk = [&](std::string& begin, std::string& end, std::string& task_name) {
      const VarId task = e_.open_loop("task", count * chunks, "#pragma omp parallel for schedule(static)");
      task_name = e_.name(task);
      const Index place = e_.unflatten(Affine::variable(task), {count, chunks});
      begin = e_.unique("begin");
      end = e_.unique("end");
      e_.line(fmt::format("const std::int64_t {} = {};", begin, clipped(fmt::format("({}) * {}", e_.text(place[1]), chunk))));
      e_.line(fmt::format("const std::int64_t {} = {};", end, clipped(fmt::format("{} + {}", begin, chunk))));
      return e_.unflatten(place[0], outer);
    };
    std::string begin;
    std::string end;
    std::string task;
    Index row = open_chunk(begin, end, task);
    const std::string total = e_.unique("total");
    e_.line(fmt::format("{} {} = {};", type, total, Emitter::identity(scan_.fn, carry_type_)));
    const std::string middle = fmt::format("{1} - ({1} - {0}) % kw_lanes", begin, end);
    if (vectors) {
      const VarId j = open_part(e_, "j", length_, begin, end, true);
      const Expr next = e_.as_vector(e_.emit(operand_, with_position(row, Affine::variable(j))));
      advance(total, e_.across_lanes(scan_.fn, next).text);
      e_.close();
    }
    const VarId j = open_part(e_, "j", length_, vectors ? middle : begin, end, false);
    advance(total, e_.emit(operand_, with_position(row, Affine::variable(j))).text);
    e_.close();
    e_.line(fmt::format("{}[{}] = {};", totals, task, total));
    e_.close();

    const VarId line = e_.open_loop("row", count);
    const std::string before = e_.unique("before");
    e_.line(fmt::format("{} {} = {};", type, before, Emitter::identity(scan_.fn, carry_type_)));
    const std::string part = e_.unique("part");
    e_.open(fmt::format(fmt::runtime(from_end_ ? "for (std::int64_t {0} = {1} - 1; {0} >= 0; --{0}) {{"
                                               : "for (std::int64_t {0} = 0; {0} < {1}; ++{0}) {{"),
                        part, chunks));
    const std::string own = e_.unique("own");
    const std::string place = fmt::format("{}[{} * {} + {}]", totals, e_.name(line), chunks, part);
    e_.line(fmt::format("const {} {} = {};", type, own, place));
    e_.line(fmt::format("{} = {};", place, before));
    advance(before, own);
    e_.close();
    e_.close();

    row = open_chunk(begin, end, task);
    const std::string carry = e_.unique("running");
    e_.line(fmt::format("{} {} = {}[{}];", type, carry, totals, task));
    along(row, carry, begin, end, vectors, false);
    e_.close();
  }

  [[nodiscard]] std::string clipped(const std::string& text) const { return fmt::format("{0} < {1} ? {0} : {1}", text, length_); }

  // Down columns: a tile of them side by side, one row after the other.
  void columns(bool vectors) {
    w_.use("scan_columns");
    const std::int64_t width = scan_.shape.back();
    const std::int64_t tiles = (width + kScanTile - 1) / kScanTile;
    const std::int64_t tile = std::min(kScanTile, width);
    Shape tasks = others();
    tasks.back() = tiles;
    const Index place = open_flat_loop(w_, "task", tasks, numel(scan_.shape));
    const std::string type(value_type(carry_type_));
    const std::string line = e_.unique("line");
    e_.line(fmt::format("alignas(64) {} {}[{}];", type, line, tile));
    e_.line(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {};", tile, line, Emitter::identity(scan_.fn, carry_type_)));
    const std::string begin = e_.unique("begin");
    const std::string end = e_.unique("end");
    e_.line(fmt::format("const std::int64_t {} = ({}) * {};", begin, e_.text(place.back()), tile));
    e_.line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", end, begin, tile, width));
    const VarId k = e_.variable("k", length_);
    e_.open(fmt::format(fmt::runtime(from_end_ ? "for (std::int64_t {0} = {1} - 1; {0} >= 0; --{0}) {{"
                                               : "for (std::int64_t {0} = 0; {0} < {1}; ++{0}) {{"),
                        e_.name(k), length_),
            {k});
    const auto body = [&](VarId j, bool vector) {
      Index column = place;
      column.back() = Affine::variable(j);
      const Index at = with_position(column, Affine::variable(k));
      const std::string slot = fmt::format("{}[{} - {}]", line, e_.name(j), begin);
      if (!vector) {
        advance_and_store(slot, at);
        return;
      }
      const Expr next = e_.as_vector(e_.emit(operand_, at));
      const std::string running = e_.unique("here");
      const std::string before = e_.unique("before");
      if (before_ && carry_type_ == DType::f64) {
        w_.declare("#include <utility>");
        w_.declare(fmt::format(fmt::runtime(kWideLine)));
        e_.line(fmt::format("const kw_vec {} = kw_wide_line(&{}, std::make_integer_sequence<int, kw_lanes>());", before, slot));
      } else if (before_) {
        e_.set_trouble("a line of other numbers than double before its own elements");
      }
      if (carry_type_ == DType::f64) {
        w_.declare("#include <utility>");
        w_.declare(fmt::format(fmt::runtime(kWideStep), scan_.fn, scan_.fn == "sum" ? "+" : "*"));
        e_.need("vec");
        e_.line(fmt::format("{}kw_wide_{}(&{}, {});", before_ ? "" : fmt::format("const kw_vec {} = ", running), scan_.fn, slot,
                            next.text));
      } else {
        e_.need("load");
        e_.need("store");
        e_.line(fmt::format("const kw_vec {} = {};", running,
                            e_.combine(scan_.fn, {fmt::format("kw_load(&{})", slot), DType::f32, true}, next).text));
        e_.line(fmt::format("kw_store(&{}, {});", slot, running));
      }
      store_roots(w_, stage_, at, {before_ ? before : running, DType::f32, true});
    };
    std::string from = begin;
    if (vectors) {
      w_.use("explicit_vectors");
      body(open_part(e_, "j", width, begin, end, true), true);
      e_.close();
      from = fmt::format("{1} - ({1} - {0}) % kw_lanes", begin, end);
    }
    if (!vectors || width % kMostLanes != 0) {
      body(open_part(e_, "j", width, from, end, false), false);
      e_.close();
    }
    e_.close();
    close_flat_loop(w_, tasks);
  }

  void declare_vector_scan() {
    if (scan_.dtype != DType::f32) e_.set_trouble("a scan of other numbers than float32 in lanes");
    e_.need("splat");
    const auto step = [&](int by) {
      const std::string moved = fmt::format("kw_moved_{}<{}>(none, v, lanes)", from_end_ ? "down" : "up", by);
      return e_.combine(scan_.fn, {"v", DType::f32, true}, {moved, DType::f32, true}).text;
    };
    w_.declare("#include <utility>");
    w_.declare(fmt::format(fmt::runtime(from_end_ ? kMovedDown : kMovedLanes)));
    w_.declare(fmt::format(fmt::runtime(kVectorScan), scan_.fn + (from_end_ ? "_back" : ""),
                           Emitter::identity(scan_.fn, DType::f32), step(1), from_end_ ? "last" : "first", step(2), step(4),
                           step(8)));
  }

  StageWriter& w_;
  Emitter& e_;
  const Stage& stage_;
  const Value& scan_;
  ValueId operand_;
  std::size_t dim_;
  std::int64_t length_;
  bool from_end_;
  bool before_;  // each value is without its own element
  DType carry_type_ = DType::f32;
};

std::string scan_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::scan) return "no running value";
  return roots_not_like_anchor(writer, stage);
}

void write_scan_stage(StageWriter& writer, const Stage& stage) { ScanText(writer, stage).write(); }

}  // namespace

const Family scan_family{"scan", scan_why_not, write_scan_stage};

}  // namespace kw
