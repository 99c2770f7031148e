// Reductions over an outer dimension: vectors of columns, each lane with its own result, and what is made of them.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/reach.h"

namespace kw {
namespace {

// Reductions of so few neighbours have no vectors along them: lanes are results, even where their terms are not side by side.
constexpr std::int64_t kFewTerms = 16;
constexpr std::int64_t kFewestWide = 512;  // columns of the narrowest tile with its results in memory

// The reductions inside a stage, each after those that it needs.
std::vector<ValueId> reductions_inside(const StageWriter& writer, const Stage& stage) {
  std::set<ValueId> found;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      if (writer.graph.at(at.value).kind == ValueKind::reduce && (at.value == root || !stored(at.value))) found.insert(at.value);
    });
  return {found.begin(), found.end()};
}

// The pointwise values that every column has one of and that are made of reductions, where something reads them that each column
// has many of: the logarithm of a sum, say.
std::vector<ValueId> once_a_column(const StageWriter& writer, const Stage& stage, const std::vector<ValueId>& reductions) {
  const Graph& graph = writer.graph;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  std::uint64_t own_dims = 0;
  for (const int d : stage.row_dims) own_dims |= std::uint64_t{1} << d;
  std::set<ValueId> once(reductions.begin(), reductions.end());
  std::set<ValueId> often;
  for (const ValueId root : stage.roots)
    visit_reached(graph, root, stored, [&](const Reached& at) {
      const Value& value = graph.at(at.value);
      if (value.kind != ValueKind::pointwise || (at.value != root && stored(at.value))) return;
      const bool in_place = std::ranges::all_of(
          at.uses, [&](const DimUse& use) { return use.dims == 0 || (use.same >= 0 && (use.dims & ~own_dims) == 0); });
      if (at.value == root || !in_place || value.dtype != DType::f32)
        often.insert(at.value);
      else
        once.insert(at.value);
    });
  for (const ValueId id : often) once.erase(id);  // read in several ways
  // Values are in the order in which they are made.
  std::set<ValueId> made;
  for (const ValueId id : once)
    if (graph.at(id).kind == ValueKind::reduce ||
        std::ranges::any_of(graph.at(id).operands, [&](ValueId o) { return made.contains(behind_views(graph, o)); }))
      made.insert(id);
  std::set<ValueId> wanted;
  for (const ValueId id : often)
    for (const ValueId operand : graph.at(id).operands) wanted.insert(behind_views(graph, operand));
  std::vector<ValueId> result;
  for (const ValueId id : made)
    if (graph.at(id).kind == ValueKind::reduce || wanted.contains(id)) result.push_back(id);
  return result;
}

std::string columns_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0) return "it has an anchor";
  if (!stage.has_reductions) return "it has no reductions";
  if (!writer.wants("explicit_vectors")) return "vectors are not wanted";
  const Shape& shape = writer.graph.shape(stage.roots[0]);
  const int last = static_cast<int>(shape.size()) - 1;
  if (stage.row_dims.empty() || stage.row_dims.back() != last) return "the rows are not side by side";
  if (shape.back() < kMostLanes) return "there are few columns";
  for (const ValueId id : reductions_inside(writer, stage)) {
    const Value& value = writer.graph.at(id);
    if (value.dtype != DType::f32) return "it is not all float32";
    const Shape& operand = writer.graph.shape(value.operands[0]);
    const bool innermost = value.dims.back() == static_cast<int>(operand.size()) - 1;
    if (innermost && product_of(operand, value.dims) > kFewTerms) return "the innermost dimension is reduced, and not short";
  }
  return "";
}

class ColumnsWriter {
 public:
  // `joined`: all row dimensions at the end are one dimension of columns.
  ColumnsWriter(StageWriter& writer, const Stage& stage, bool joined)
      : writer_(writer), e_(writer.emitter), stage_(stage), shape_(writer.graph.shape(stage.roots[0])), joined_(joined) {
    outer_dims_ = stage.row_dims;
    column_dims_ = {outer_dims_.back()};
    outer_dims_.pop_back();
    while (joined && !outer_dims_.empty() && outer_dims_.back() + 1 == column_dims_.front()) {
      column_dims_.insert(column_dims_.begin(), outer_dims_.back());
      outer_dims_.pop_back();
    }
    columns_ = product_of(shape_, column_dims_);
    for (int d = 0; d < static_cast<int>(shape_.size()); ++d)
      if (std::ranges::find(stage.row_dims, d) == stage.row_dims.end()) inner_dims_.push_back(d);
    rows_ = product_of(shape_, outer_dims_);
    work_ = numel(shape_);
    const auto reductions = reductions_inside(writer, stage);
    for (const ValueId id : reductions) work_ = std::max(work_, numel(writer.graph.shape(writer.graph.at(id).operands[0])));
    results_ = once_a_column(writer, stage, reductions);
  }

  void write() {
    e_.columns = true;
    std::string from = "0";
    const std::int64_t widest = 16 * kMostLanes;
    if (writer_.wants("wide_column_tiles") && columns_ >= kFewestWide && writer_.attempt([&] { write_wide(); })) {
      e_.columns = false;
      if (columns_ % kMostLanes != 0) write_single(fmt::format("{0} / kw_lanes * kw_lanes", columns_));
      writer_.use("explicit_vectors");
      return;
    }
    if (writer_.wants("tile_columns") && columns_ >= 2 * kMostLanes && writer_.attempt([&] { write_tiles(); })) {
      from = fmt::format("{} / (KW_TILE * kw_lanes) * (KW_TILE * kw_lanes)", columns_);
    }
    const bool rest = from == "0" || columns_ % widest != 0;
    if (rest && !writer_.attempt([&] { write_vectors(from); })) {
      if (joined_) {
        e_.columns = false;
        e_.set_trouble("columns that are not one dimension");
        return;
      }
      // Nothing has a vector form: one column at a time.
      e_.columns = false;
      write_single("0");
      return;
    }
    e_.columns = false;
    if (columns_ % kMostLanes != 0) write_single(fmt::format("{0} / kw_lanes * kw_lanes", columns_));
    writer_.use("explicit_vectors");
  }

 private:
  [[nodiscard]] Index at_column(const Index& index, VarId column) {
    return with_dims(index, column_dims_, e_.unflatten(Affine::variable(column), shape_of_dims(shape_, column_dims_)));
  }

  // A loop over all rows and all pieces of `step` columns of [from, columns_), as one; the first column of the piece.
  Index open_pieces(const std::string& from, const std::string& step, std::string& first) {
    const std::string per_row = e_.unique("pieces");
    e_.line(fmt::format("constexpr std::int64_t {} = ({} - {}) / ({});", per_row, columns_, from, step));
    const VarId piece = e_.variable("piece", rows_ * columns_);
    const std::string pragma = writer_.parallel_pragma(rows_ * columns_ / kMostLanes, work_, true);
    e_.open(fmt::format("{3}for (std::int64_t {0} = 0; {0} < {1} * {2}; ++{0}) {{", e_.name(piece), rows_, per_row,
                        pragma.empty() ? "" : pragma + "\n"),
            {piece});
    first = e_.unique("first");
    e_.line(fmt::format("const std::int64_t {} = {}{} % {} * ({});", first, from == "0" ? "" : from + " + ", e_.name(piece),
                        per_row, step));
    Index index(shape_.size());
    if (rows_ > 1) {
      const VarId row = e_.define("row", fmt::format("{} / {}", e_.name(piece), per_row), {0, rows_ - 1});
      index = with_dims(index, outer_dims_, e_.unflatten(Affine::variable(row), shape_of_dims(shape_, outer_dims_)));
    }
    return index;
  }

  void store_inside(const Index& index, const std::function<void(const Index&)>& store) {
    Index parts;
    for (const int d : inner_dims_) parts.push_back(Affine::variable(e_.open_loop("k", shape_[static_cast<std::size_t>(d)])));
    store(with_dims(index, inner_dims_, parts));
    for (std::size_t i = 0; i < inner_dims_.size(); ++i) e_.close();
  }

  void store_root(ValueId root, const Index& index) { store_targets(writer_, {{root, root, Index(shape_.size())}}, index); }

  // One vector of columns at a time.
  void write_vectors(const std::string& from) {
    std::string first;
    Index index = open_pieces(from, "kw_lanes", first);
    index = at_column(index, e_.define("column", first, {0, columns_ - 1}, true));
    for (const ValueId root : stage_.roots) {
      store_inside(index, [&](const Index& at) { store_root(root, at); });
      if (root != stage_.roots.back()) e_.materialise(root, writer_.buffer(root));
    }
    forget_roots();
    e_.close();
  }

  void write_single(const std::string& from) {
    std::string first;
    Index index = open_pieces(from, "1", first);
    index = at_column(index, e_.define("column", first, {0, columns_ - 1}));
    for (const ValueId root : stage_.roots) {
      store_inside(index, [&](const Index& at) { store_root(root, at); });
      if (root != stage_.roots.back()) e_.materialise(root, writer_.buffer(root));
    }
    forget_roots();
    e_.close();
  }

  void forget_roots() {
    for (const ValueId root : stage_.roots) e_.forget(root);
  }

  // Tiles of several vectors side by side: whole cache lines of each row of the reduced dimension.
  void write_tiles() {
    std::vector<std::int64_t> tiles;
    for (const std::int64_t tile : {2, 4, 8, 16})
      if (tile * kMostLanes <= columns_) tiles.push_back(tile);
    writer_.knob("KW_TILE", std::min<std::int64_t>(tiles.back(), 8), tiles);
    std::string first;
    const Index index = open_pieces("0", "KW_TILE * kw_lanes", first);
    std::vector<std::pair<ValueId, std::string>> done;  // with the array of their results
    const auto in_tile = [&](const std::function<void(const Index&, const std::string&)>& body, const Index& at) {
      const std::string t = e_.unique("t");
      e_.open(fmt::format("#pragma GCC unroll 16\nfor (int {0} = 0; {0} < KW_TILE; ++{0}) {{", t));
      const VarId column = e_.define("column", fmt::format("{} + {} * kw_lanes", first, t), {0, columns_ - 1}, true);
      const Index own = at_column(at, column);
      for (const auto& [id, results] : done)
        e_.provide(id, result_index(id, own), {fmt::format("{}[{}]", results, t), DType::f32, true});
      body(own, t);
      e_.close();
    };
    for (const ValueId id : results_) {
      const Value& value = writer_.graph.at(id);
      const std::string results = name_of(value);
      if (value.kind != ValueKind::reduce) {
        e_.line(fmt::format("kw_vec {}[KW_TILE];", results));
        in_tile(
            [&](const Index& own, const std::string& t) {
              e_.line(fmt::format("{}[{}] = {};", results, t, e_.as_vector(e_.emit(id, result_index(id, own))).text));
            },
            index);
        done.emplace_back(id, results);
        continue;
      }
      const bool block = value.fn == "sum" && numel(shape_of_dims(writer_.graph.shape(value.operands[0]), value.dims)) > 4096;
      if (block) e_.set_trouble("a long sum");
      e_.need("splat");
      e_.line(fmt::format("kw_vec {}[KW_TILE];", results));
      e_.line(fmt::format("for (auto& start : {}) start = kw_splat({});", results, Emitter::identity(value.fn, DType::f32)));
      Index reduced;
      for (const int d : value.dims)
        reduced.push_back(Affine::variable(e_.open_loop("k", writer_.graph.shape(value.operands[0])[static_cast<std::size_t>(d)])));
      in_tile(
          [&](const Index& own, const std::string& t) {
            const Index of_result = result_index(id, own);
            const Index at = operand_index(value, of_result, reduced);
            const std::string acc = fmt::format("{}[{}]", results, t);
            const Expr term = e_.as_vector(e_.emit(value.operands[0], at));
            e_.line(fmt::format("{} = {};", acc, e_.combine(value.fn, {acc, DType::f32, true}, term).text));
          },
          index);
      for (std::size_t i = 0; i < value.dims.size(); ++i) e_.close();
      done.emplace_back(id, results);
    }
    for (const ValueId root : stage_.roots) {
      store_inside(index,
                   [&](const Index& at) { in_tile([&](const Index& own, const std::string&) { store_root(root, own); }, at); });
      if (root != stage_.roots.back()) e_.materialise(root, writer_.buffer(root));
    }
    forget_roots();
    e_.close();
    writer_.use("tile_columns");
  }

  std::string name_of(const Value& value) const {
    if (value.kind != ValueKind::reduce) return e_.unique(value.fn + "_once");
    return e_.unique(value.fn == "max" || value.fn == "min" ? value.fn + "imum" : value.fn);
  }

  // Tiles of many columns: each row of the reduced dimension is read in long runs, several rows at a time, and running results stay
  // in the nearest cache.
  void write_wide() {
    std::vector<std::int64_t> widths;
    for (const std::int64_t width : {512, 1024, 2048, 4096})
      if (width <= columns_) widths.push_back(width);
    std::int64_t standard = std::min<std::int64_t>(widths.back(), 2048);
    while (standard > widths.front() && rows_ * (columns_ / standard) < 4 * writer_.machine.threads) standard /= 2;
    writer_.knob("KW_WIDE", standard, widths);
    writer_.knob("KW_ROWS", 4, {1, 2, 4, 8});
    const std::string pieces = e_.unique("pieces");
    e_.line(fmt::format("constexpr std::int64_t {} = ({} + KW_WIDE - 1) / KW_WIDE;", pieces, columns_));
    const VarId piece = e_.variable("piece", rows_ * columns_);
    const std::string pragma = writer_.parallel_pragma(rows_ * columns_ / widths.front(), work_, true);
    e_.open(fmt::format("{3}for (std::int64_t {0} = 0; {0} < {1} * {2}; ++{0}) {{", e_.name(piece), rows_, pieces,
                        pragma.empty() ? "" : pragma + "\n"),
            {piece});
    const std::string first = e_.unique("first");
    const std::string last = e_.unique("last");
    const std::string whole =
        columns_ % kMostLanes == 0 ? fmt::format("{}", columns_) : fmt::format("{} / kw_lanes * kw_lanes", columns_);
    e_.line(fmt::format("const std::int64_t {} = {} % {} * KW_WIDE;", first, e_.name(piece), pieces));
    e_.line(fmt::format("const std::int64_t {0} = {1} + KW_WIDE < {2} ? {1} + KW_WIDE : {2};", last, first, whole));
    Index index(shape_.size());
    if (rows_ > 1) {
      const VarId row = e_.define("row", fmt::format("{} / {}", e_.name(piece), pieces), {0, rows_ - 1});
      index = with_dims(index, outer_dims_, e_.unflatten(Affine::variable(row), shape_of_dims(shape_, outer_dims_)));
    }
    std::vector<std::pair<ValueId, std::string>> done;  // with the array of their results
    const auto along = [&](const Index& at, const std::function<void(const Index&, const std::string&)>& body) {
      const VarId column = e_.variable("column", columns_, true);
      e_.open(fmt::format("for (std::int64_t {0} = {1}; {0} + kw_lanes <= {2}; {0} += kw_lanes) {{", e_.name(column), first, last),
              {column});
      const Index own = at_column(at, column);
      for (const auto& [id, results] : done)
        e_.provide(id, result_index(id, own),
                   {fmt::format("kw_load({} + ({} - {}))", results, e_.name(column), first), DType::f32, true});
      body(own, fmt::format("({} - {})", e_.name(column), first));
      e_.close();
    };
    for (const char* needed : {"splat", "load", "store"}) e_.need(needed);
    for (const ValueId id : results_) {
      const Value& value = writer_.graph.at(id);
      const std::string results = name_of(value);
      if (value.kind != ValueKind::reduce) {
        e_.line(fmt::format("alignas(64) float {}[KW_WIDE];", results));
        along(index, [&](const Index& own, const std::string& slot) {
          const Expr made = e_.as_vector(e_.emit(id, result_index(id, own)));
          e_.line(fmt::format("kw_store({} + {}, {});", results, slot, made.text));
        });
        done.emplace_back(id, results);
        continue;
      }
      const Shape reduced_shape = shape_of_dims(writer_.graph.shape(value.operands[0]), value.dims);
      if (value.fn == "sum" && numel(reduced_shape) > 4096) e_.set_trouble("a long sum");
      e_.line(fmt::format("alignas(64) float {}[KW_WIDE];", results));
      e_.line(fmt::format("for (auto& start : {}) start = {};", results, Emitter::identity(value.fn, DType::f32)));
      Index reduced;
      for (std::size_t d = 0; d + 1 < reduced_shape.size(); ++d)
        reduced.push_back(Affine::variable(e_.open_loop("k", reduced_shape[d])));
      // One pass over the columns for `many` rows from k on.
      const auto pass = [&](const std::string& k, const std::string& many) {
        along(index, [&](const Index& own, const std::string& slot) {
          const std::string acc = e_.unique("running");
          e_.line(fmt::format("kw_vec {} = kw_load({} + {});", acc, results, slot));
          const std::string u = e_.unique("u");
          if (many != "1") e_.open(fmt::format("#pragma GCC unroll 8\nfor (int {0} = 0; {0} < {1}; ++{0}) {{", u, many));
          Index all = reduced;
          all.push_back(
              Affine::variable(e_.define("at", many == "1" ? k : fmt::format("{} + {}", k, u), {0, reduced_shape.back() - 1})));
          const Expr term = e_.as_vector(e_.emit(value.operands[0], operand_index(value, result_index(id, own), all)));
          e_.line(fmt::format("{} = {};", acc, e_.combine(value.fn, {acc, DType::f32, true}, term).text));
          if (many != "1") e_.close();
          e_.line(fmt::format("kw_store({} + {}, {});", results, slot, acc));
        });
      };
      const std::string k = e_.unique("k");
      e_.open(fmt::format("for (std::int64_t {0} = 0; {0} + KW_ROWS <= {1}; {0} += KW_ROWS) {{", k, reduced_shape.back()));
      pass(k, "KW_ROWS");
      e_.close();
      if (reduced_shape.back() % 8 != 0) {
        const std::string rest = e_.unique("k");
        e_.open(fmt::format("for (std::int64_t {0} = {1} / KW_ROWS * KW_ROWS; {0} < {1}; ++{0}) {{", rest, reduced_shape.back()));
        pass(rest, "1");
        e_.close();
      }
      for (std::size_t d = 0; d + 1 < reduced_shape.size(); ++d) e_.close();
      done.emplace_back(id, results);
    }
    for (const ValueId root : stage_.roots) {
      store_inside(index,
                   [&](const Index& at) { along(at, [&](const Index& own, const std::string&) { store_root(root, own); }); });
      if (root != stage_.roots.back()) e_.materialise(root, writer_.buffer(root));
    }
    forget_roots();
    e_.close();
    writer_.use("wide_column_tiles");
  }

  // The index of a reduction's result, or of what is made of some, for a position of the rows.
  Index result_index(ValueId id, const Index& own) {
    Index found;
    const auto stored = [&](ValueId value) { return writer_.plan.buffers.contains(value); };
    for (const ValueId root : stage_.roots)
      visit_reached(writer_.graph, root, stored, [&](const Reached& at) {
        if (at.value != id || !found.empty()) return;
        for (const auto& use : at.uses) {
          if (use.same < 0 && use.dims != 0) e_.set_trouble("a reduction at a position that is not the row's own");
          found.push_back(use.same < 0 ? Affine(0) : own[static_cast<std::size_t>(use.same)]);
        }
      });
    return found;
  }

  StageWriter& writer_;
  Emitter& e_;
  const Stage& stage_;
  Shape shape_;
  bool joined_;
  std::vector<ValueId> results_;  // of which each column has one: reductions and what is made of them, in order
  std::int64_t columns_ = 0;
  std::vector<int> column_dims_;
  std::vector<int> outer_dims_;
  std::vector<int> inner_dims_;
  std::int64_t rows_ = 1;
  std::int64_t work_ = 1;
};

void write_columns(StageWriter& writer, const Stage& stage) {
  if (writer.attempt([&] { ColumnsWriter(writer, stage, true).write(); })) return;
  ColumnsWriter(writer, stage, false).write();
}

}  // namespace

const Family columns_family{"columns", columns_why_not, write_columns};

}  // namespace kw
