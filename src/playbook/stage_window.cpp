// Windows of sums and maxima: every output from its whole window, or rows of partial results first and windows along them after.
#include "playbook/stage_window.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "playbook/stage_scan.h"

namespace kw {
namespace {

constexpr std::int64_t kUnrolledTaps = 9;  // of the innermost dimension, written out one by one

class WindowText {
 public:
  WindowText(StageWriter& writer, const Stage& stage)
      : w_(writer),
        e_(writer.emitter),
        stage_(stage),
        window_(writer.graph.at(stage.anchor)),
        operand_(window_.operands[0]),
        inputs_(writer.graph.shape(operand_)),
        last_(window_.shape.size() - 1),
        across_(window_.window[last_]) {
    interior_ = interior_outputs(across_, inputs_[last_], window_.shape[last_]);
  }

  void write() {
    if (numel(window_.shape) == 0) return;
    const bool vectors = w_.wants("explicit_vectors");
    bool outer = false;
    for (std::size_t d = 0; d < last_; ++d) outer = outer || is_pooled(window_.window[d]);
    if (w_.wants("separable_window") && outer && is_pooled(across_)) {
      if (vectors && w_.attempt([&] { separable(true); })) return;
      return separable(false);
    }
    const bool all_inside = interior_.begin == 0 && interior_.end == window_.shape[last_] && !is_adaptive(across_);
    const bool vector_worth = interior_.end - interior_.begin >= 4 && !is_adaptive(across_);
    if (vectors && vector_worth && (all_inside || w_.wants("window_interior")) && w_.attempt([&] { whole(true); })) return;
    whole(false);
  }

 private:
  // The positions of one dimension that a window covers: open() writes the loop over them, if it takes one.
  struct Taps {
    std::size_t dim = 0;
    std::optional<Affine> position;  // the only one
    Affine start;                    // of windows that lie inside
    bool inside = false;
    std::string begin;  // bounds of those that are cut
    std::string end;
  };

  // What has to be known before the loops over the taps of `dim`, written into the innermost scope.
  Taps prepare(std::size_t dim, const Affine& output, bool certainly_inside) {
    const WindowDim& window = window_.window[dim];
    const std::int64_t inputs = inputs_[dim];
    const std::int64_t outputs = window_.shape[dim];
    Taps taps;
    taps.dim = dim;
    if (!is_pooled(window)) {
      taps.position = output;
      return taps;
    }
    if (is_adaptive(window)) {
      taps.begin = e_.unique("begin");
      taps.end = e_.unique("end");
      e_.line(fmt::format("const std::int64_t {} = ({}) * {} / {};", taps.begin, e_.text(output), inputs, outputs));
      e_.line(fmt::format("const std::int64_t {} = (({} + 1) * {} - 1) / {} + 1;", taps.end, e_.text(output), inputs, outputs));
      return taps;
    }
    const InteriorOutputs interior = interior_outputs(window, inputs, outputs);
    taps.inside = certainly_inside || (interior.begin == 0 && interior.end == outputs);
    taps.start = output * window.stride - Affine(window.before);
    if (taps.inside) {
      if (window.size == 1) taps.position = taps.start;
      return taps;
    }
    const std::string start = e_.unique("start");
    taps.begin = e_.unique("begin");
    taps.end = e_.unique("end");
    const std::int64_t reach = (window.size - 1) * window.dilation + 1;
    e_.line(fmt::format("const std::int64_t {} = {};", start, e_.text(taps.start)));
    if (window.dilation == 1) {
      e_.line(fmt::format("const std::int64_t {0} = {1} < 0 ? 0 : {1};", taps.begin, start));
    } else {
      e_.line(fmt::format("const std::int64_t {0} = {1} < 0 ? {1} + ({2} - 1 - {1}) / {2} * {2} : {1};", taps.begin, start,
                          window.dilation));
    }
    e_.line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", taps.end, start, reach, inputs));
    return taps;
  }

  Affine open(const Taps& taps, int& opened) {
    if (taps.position) return *taps.position;
    const WindowDim& window = window_.window[taps.dim];
    ++opened;
    if (taps.inside) {
      const VarId k = e_.open_loop("k", window.size);
      return taps.start + Affine::variable(k) * window.dilation;
    }
    const VarId at = e_.variable("at", inputs_[taps.dim]);
    const std::string step = window.dilation == 1 || is_adaptive(window) ? fmt::format("++{}", e_.name(at))
                                                                         : fmt::format("{} += {}", e_.name(at), window.dilation);
    e_.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; {3}) {{", e_.name(at), taps.begin, taps.end, step), {at});
    return Affine::variable(at);
  }

  std::string open_accumulator(bool vector) {
    std::string acc = e_.unique("window");
    const std::string none = Emitter::identity(window_.fn, window_.dtype);
    if (vector) {
      e_.need("splat");
      e_.line(fmt::format("kw_vec {} = kw_splat({});", acc, none));
    } else {
      e_.line(fmt::format("{} {} = {};", value_type(window_.dtype), acc, none));
    }
    return acc;
  }

  void update(const std::string& acc, const Expr& next) {
    if (window_.fn == "sum") {
      e_.line(fmt::format("{} += {};", acc, next.text));
    } else {
      e_.line(fmt::format("{} = {};", acc, e_.combine(window_.fn, {acc, window_.dtype, next.vector}, next).text));
    }
  }

  Expr tap(const Index& at, VarId vector) {
    if (vector < 0) return e_.emit(operand_, at);
    if (const std::string text = strided_load(w_, operand_, at, vector); !text.empty()) return {text, DType::f32, true};
    return e_.as_vector(e_.emit(operand_, at));
  }

  // Every output from its whole window.
  void whole(bool vectors) {
    Shape rows = window_.shape;
    rows.pop_back();
    const Index row = open_flat_loop(w_, "row", rows, numel(inputs_));
    std::vector<Taps> outer;
    for (std::size_t d = 0; d < last_; ++d) outer.push_back(prepare(d, row[d], false));
    const std::int64_t count = window_.shape[last_];
    const bool split = w_.wants("window_interior") && interior_.end > interior_.begin && interior_.end - interior_.begin < count &&
                       !is_adaptive(across_);
    const std::int64_t first = split || vectors ? interior_.begin : 0;
    const std::int64_t behind = split || vectors ? interior_.end : count;
    if (split) w_.use("window_interior");
    const auto single = [&](const std::string& begin, std::int64_t end, bool inside) {
      outputs(open_part(e_, "o", count, begin, fmt::format("{}", end), false), row, outer, false, inside);
    };
    if (first > 0) single("0", first, false);
    if (vectors) {
      w_.use("explicit_vectors");
      outputs(open_vectors(e_, "o", count, first, behind), row, outer, true, true);
      if (leaves_some(first, behind)) single(vector_end(first, behind), behind, true);
    } else {
      single(fmt::format("{}", first), behind, split);
    }
    if (behind < count) single(fmt::format("{}", behind), count, false);
    close_flat_loop(w_, rows);
  }

  // In the loop over o, which is closed afterwards.
  void outputs(VarId o, const Index& row, const std::vector<Taps>& outer, bool vector, bool inside) {
    const Taps inner = prepare(last_, Affine::variable(o), inside);
    const std::string acc = open_accumulator(vector);
    int opened = 0;
    Index at;
    for (const auto& taps : outer) at.push_back(open(taps, opened));
    if (inner.inside && !inner.position && across_.size <= kUnrolledTaps) {
      at.emplace_back();
      for (std::int64_t k = 0; k < across_.size; ++k) {
        at.back() = inner.start + Affine(k * across_.dilation);
        update(acc, tap(at, vector ? o : -1));
      }
    } else {
      at.push_back(open(inner, opened));
      update(acc, tap(at, vector ? o : -1));
    }
    for (int i = 0; i < opened; ++i) e_.close();
    Index out = row;
    out.push_back(Affine::variable(o));
    store_roots(w_, stage_, out, {acc, window_.dtype, vector});
    e_.close();
  }

  // A padded line of what the windows' other dimensions come to, then the windows along it.
  void separable(bool vectors) {
    w_.use("separable_window");
    const bool padded = !is_adaptive(across_) && (interior_.begin > 0 || interior_.end < window_.shape[last_]);
    if (padded) w_.use("window_interior");
    Shape rows = window_.shape;
    rows.pop_back();
    const Index row = open_flat_loop(w_, "row", rows, numel(inputs_));
    std::vector<Taps> outer;
    for (std::size_t d = 0; d < last_; ++d) outer.push_back(prepare(d, row[d], false));
    const std::int64_t width = inputs_[last_];
    const std::int64_t before = is_adaptive(across_) ? 0 : across_.before;
    const std::int64_t reach =
        is_adaptive(across_) ? width : (window_.shape[last_] - 1) * across_.stride + (across_.size - 1) * across_.dilation + 1;
    const std::int64_t length = std::max(before + width, reach);
    const std::string line = e_.unique("line");
    const std::string none = Emitter::identity(window_.fn, window_.dtype);
    e_.line(fmt::format("alignas(64) {} {}[{}];", value_type(window_.dtype), line, length));
    if (before > 0) e_.line(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {};", before, line, none));
    if (before + width < length)
      e_.line(fmt::format("for (int i = {}; i < {}; ++i) {}[i] = {};", before + width, length, line, none));
    const std::string shifted = before == 0 ? line : fmt::format("{} + {}", line, before);
    const auto fill = [&](VarId x, bool vector) {
      const std::string acc = open_accumulator(vector);
      int opened = 0;
      Index at;
      for (const auto& taps : outer) at.push_back(open(taps, opened));
      at.push_back(Affine::variable(x));
      const Expr next = e_.emit(operand_, at);
      update(acc, vector ? e_.as_vector(next) : next);
      for (int i = 0; i < opened; ++i) e_.close();
      if (vector) {
        e_.need("store");
        e_.line(fmt::format("kw_store({} + {}, {});", shifted, e_.name(x), acc));
      } else {
        e_.line(fmt::format("({})[{}] = {};", shifted, e_.name(x), acc));
      }
      e_.close();
    };
    if (vectors) {
      w_.use("explicit_vectors");
      fill(open_vectors(e_, "x", width, 0, width), true);
    }
    if (!vectors || leaves_some(0, width))
      fill(open_part(e_, "x", width, vectors ? vector_end(0, width) : "0", fmt::format("{}", width), false), false);
    along_line(row, line, vectors);
    close_flat_loop(w_, rows);
  }

  void along_line(const Index& row, const std::string& line, bool vectors) {
    const std::int64_t count = window_.shape[last_];
    const auto part = [&](VarId o, bool vector) {
      const std::string acc = open_accumulator(vector);
      const auto from_line = [&](const std::string& position) -> Expr {
        if (!vector) return {fmt::format("{}[{}]", line, position), window_.dtype, false};
        declare_every(w_);
        return {fmt::format("kw_every<{}>({} + {})", across_.stride, line, position), window_.dtype, true};
      };
      if (is_adaptive(across_)) {
        const Taps taps = prepare(last_, Affine::variable(o), false);
        int opened = 0;
        const Affine at = open(taps, opened);
        update(acc, from_line(e_.text(at)));
        e_.close();
      } else if (across_.size <= kUnrolledTaps) {
        for (std::int64_t k = 0; k < across_.size; ++k)
          update(acc, from_line(e_.text(Affine::variable(o) * across_.stride + Affine(k * across_.dilation))));
      } else {
        const VarId k = e_.open_loop("k", across_.size);
        update(acc, from_line(e_.text(Affine::variable(o) * across_.stride + Affine::variable(k) * across_.dilation)));
        e_.close();
      }
      Index out = row;
      out.push_back(Affine::variable(o));
      store_roots(w_, stage_, out, {acc, window_.dtype, vector});
      e_.close();
    };
    const bool in_vectors = vectors && !is_adaptive(across_);
    if (in_vectors) part(open_vectors(e_, "o", count, 0, count), true);
    if (!in_vectors || leaves_some(0, count))
      part(open_part(e_, "o", count, in_vectors ? vector_end(0, count) : "0", fmt::format("{}", count), false), false);
  }

  StageWriter& w_;
  Emitter& e_;
  const Stage& stage_;
  const Value& window_;
  ValueId operand_;
  Shape inputs_;
  std::size_t last_;
  WindowDim across_;
  InteriorOutputs interior_;
};

std::string window_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::window) return "no windows";
  return roots_not_like_anchor(writer, stage);
}

void write_window_stage(StageWriter& writer, const Stage& stage) { WindowText(writer, stage).write(); }

}  // namespace

const Family window_family{"window", window_why_not, write_window_stage};

}  // namespace kw
