// The family of products: chooses how one is written. Matrix times vector, diagonal factors and plain loops are here.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/product.h"

namespace kw {
namespace {

bool computes_in_float(const StageWriter& writer, ValueId product) {
  const auto plain = [&](ValueId value) {
    const DType dtype = writer.graph.dtype(value);
    return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  };
  const Value& value = writer.graph.at(product);
  return plain(product) && plain(value.operands[0]) && plain(value.operands[1]);
}

bool is_diagonal(const std::optional<Band>& band) { return band && band->low == 0 && band->high == 0; }

// What a writer of whole rows does with one element of the product: everything that follows it, and the stores.
void store_roots(StageWriter& writer, const Stage& stage, const ProductFacts& facts, const Index& index) {
  for (const ValueId root : stage.roots) {
    const Index at = root_index(writer.emitter, writer.graph, facts, index, root);
    writer.emitter.store(writer.buffer(root), at, writer.emitter.emit(root, at));
  }
}

struct OuterLoops {
  Affine batch;
  int count = 0;  // of loops that are open
};

OuterLoops open_batches(Emitter& emitter, const ProductFacts& facts, const std::string& pragma) {
  if (facts.batches == 1) return {};
  return {Affine::variable(emitter.open_loop("batch", facts.batches, pragma)), 1};
}

std::string product_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product) return "no product";
  for (const char* strategy : {"register_tile", "dot_rows", "diagonal_as_scale", "parallel_outer", "parallel_panels"})
    if (writer.wants(strategy)) return "";
  return "no strategy for products is wanted";
}

void product_write(StageWriter& writer, const Stage& stage) {
  const ProductFacts facts = product_facts(writer, stage, false);
  const bool in_float = computes_in_float(writer, stage.anchor) && facts.depth > 0;  // of no terms: all zeros, by plain loops
  if (in_float && writer.wants("diagonal_as_scale") && (is_diagonal(facts.left_band) || is_diagonal(facts.right_band))) {
    if (!writer.attempt([&] { write_diagonal_product(writer, stage, facts, true); }))
      write_diagonal_product(writer, stage, facts, false);
    return;
  }
  const bool one_row = facts.rows == 1 && facts.columns > 1;
  if (in_float && writer.wants("dot_rows") && (facts.columns == 1 || one_row)) {
    const ProductFacts turned = product_facts(writer, stage, one_row);
    if (turned.left.order == PackOrder::turned && writer.attempt([&] { write_dot_rows(writer, stage, turned); })) return;
  }
  if (in_float && writer.wants("register_tile")) {
    const bool swap = facts.columns == 1 && facts.rows > 1 && facts.left.order == PackOrder::along;
    const ProductFacts used = swap ? product_facts(writer, stage, true) : facts;
    for (const bool vector_packs : {true, false})
      for (const bool vector_finish : {true, false}) {
        if (vector_finish && used.columns < 4) continue;  // no vector would ever be full
        if (writer.attempt([&] { write_dense_product(writer, stage, used, vector_packs, vector_finish); })) return;
      }
  }
  write_plain_product(writer, stage, facts);
}

}  // namespace

void write_plain_product(StageWriter& writer, const Stage& stage, const ProductFacts& facts) {
  Emitter& emitter = writer.emitter;
  const auto elements = static_cast<std::int64_t>(facts.multiplications());
  const bool over_batches = facts.batches >= writer.machine.threads && facts.batches > 1;
  const OuterLoops outer = open_batches(emitter, facts, over_batches ? writer.parallel_pragma(facts.batches, elements) : "");
  const VarId row = emitter.open_loop("row", facts.rows, over_batches ? "" : writer.parallel_pragma(facts.rows, elements));
  const VarId column = emitter.open_loop("column", facts.columns);
  store_roots(writer, stage, facts, facts.product_index(outer.batch, Affine::variable(row), Affine::variable(column)));
  for (int i = 0; i < outer.count + 2; ++i) emitter.close();
}

void write_diagonal_product(StageWriter& writer, const Stage& stage, const ProductFacts& facts, bool vector) {
  writer.use("diagonal_as_scale");
  Emitter& emitter = writer.emitter;
  const std::int64_t elements = facts.batches * facts.rows * facts.columns;
  const bool over_batches = facts.batches >= writer.machine.threads && facts.batches > 1;
  const OuterLoops outer = open_batches(emitter, facts, over_batches ? writer.parallel_pragma(facts.batches, elements) : "");
  const VarId row = emitter.open_loop("row", facts.rows, over_batches ? "" : writer.parallel_pragma(facts.rows, elements));
  const Affine r = Affine::variable(row);
  const bool left = is_diagonal(facts.left_band);
  const auto element = [&](const Affine& column) {
    const Affine inner = left ? r : column;
    const Expr factor = emitter.emit(facts.left.value, facts.left_index(outer.batch, r, inner));
    const Expr other = emitter.emit(facts.right.value, facts.right_index(outer.batch, inner, column));
    const Index index = facts.product_index(outer.batch, r, column);
    emitter.provide(facts.product, index, emitter.apply("mul", {factor, other}, writer.graph.dtype(facts.product)));
    store_roots(writer, stage, facts, index);
  };
  if (vector) {
    writer.use("explicit_vectors");
    const VarId column = emitter.variable("column", facts.columns, true);
    emitter.open(
        fmt::format("for (std::int64_t {0} = 0; {0} + kw_lanes <= {1}; {0} += kw_lanes) {{", emitter.name(column), facts.columns),
        {column});
    element(Affine::variable(column));
    emitter.close();
  }
  if (!vector || facts.columns % kMostLanes != 0) {
    const VarId column = emitter.variable("column", facts.columns);
    const std::string from = vector ? fmt::format("{0} - {0} % kw_lanes", facts.columns) : "0";
    emitter.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", emitter.name(column), from, facts.columns),
                 {column});
    element(Affine::variable(column));
    emitter.close();
  }
  for (int i = 0; i < outer.count + 1; ++i) emitter.close();
}

void write_dot_rows(StageWriter& writer, const Stage& stage, const ProductFacts& facts) {
  writer.use("explicit_vectors");
  writer.use("dot_rows");
  writer.knob("KW_ROWS", 4, {1, 2, 4, 8});
  Emitter& emitter = writer.emitter;
  LocalNames names(emitter);
  const auto line = [&](const std::string& text) { emitter.line(names.say(text)); };
  const auto open = [&](const std::string& text, const std::vector<VarId>& variables = {}) {
    emitter.open(names.say(text), variables);
  };
  const auto elements = static_cast<std::int64_t>(facts.multiplications());
  const bool over_batches = facts.batches >= writer.machine.threads && facts.batches > 1;
  const OuterLoops outer = open_batches(emitter, facts, over_batches ? writer.parallel_pragma(facts.batches, elements) : "");
  const std::string pragma = over_batches ? "" : writer.parallel_pragma((facts.rows + 7) / 8, elements);
  open(fmt::format("{}for (std::int64_t $begin = 0; $begin < {}; $begin += KW_ROWS) {{", pragma.empty() ? "" : pragma + "\n",
                   facts.rows));
  line("kw_vec $sums[KW_ROWS][2] = {};");
  line("float $totals[KW_ROWS];");
  const auto row_here = [&] {
    return emitter.define("row", names.say(fmt::format("kw_least($begin + $r, {})", facts.rows - 1)), {0, facts.rows - 1});
  };
  // Two vectors at a time, then one, then elements.
  const std::int64_t depth = facts.depth;
  const std::int64_t group = facts.left.group;
  Affine inner;
  if (group > 0) {
    inner = open_inner_loops(emitter, facts.left, depth, "0", fmt::format("{}", depth), "kw_lanes", true);
    line(fmt::format("const std::int64_t $half = ({}) / kw_lanes % 2;", emitter.text(inner)));
  } else {
    open(fmt::format("for (std::int64_t $step = 0; $step < {0} / (2 * kw_lanes) * (2 * kw_lanes); $step += 2 * kw_lanes) {{",
                     depth));
    open("for (int $half = 0; $half < 2; ++$half) {");
    inner = Affine::variable(emitter.define("k", names.say("$step + $half * kw_lanes"), {0, depth - 1}, true));
  }
  const Expr vector = emitter.as_vector(emitter.emit(facts.right.value, facts.right_index(outer.batch, inner, 0)));
  line(fmt::format("const kw_vec $factors = {};", vector.text));
  open("for (int $r = 0; $r < KW_ROWS; ++$r) {");
  const VarId row = row_here();
  const Expr matrix =
      emitter.as_vector(emitter.emit(facts.left.value, facts.left_index(outer.batch, Affine::variable(row), inner)));
  line(fmt::format("$sums[$r][$half] += {} * $factors;", matrix.text));
  for (int i = 0; i < 3; ++i) emitter.close();
  open("for (int $r = 0; $r < KW_ROWS; ++$r) {");
  line("$totals[$r] = kw_sum($sums[$r][0] + $sums[$r][1]);");
  if (group == 0 && depth % (2 * kMostLanes) != 0) {
    const VarId rest_row = row_here();
    const VarId rest = emitter.variable("k", depth);
    open(fmt::format("for (std::int64_t {0} = {1} / (2 * kw_lanes) * (2 * kw_lanes); {0} < {1}; ++{0}) {{", emitter.name(rest),
                     depth),
         {rest});
    const Expr a =
        emitter.emit(facts.left.value, facts.left_index(outer.batch, Affine::variable(rest_row), Affine::variable(rest)));
    const Expr b = emitter.emit(facts.right.value, facts.right_index(outer.batch, Affine::variable(rest), 0));
    line(fmt::format("$totals[$r] += {} * {};", a.text, b.text));
    emitter.close();
  }
  emitter.close();
  const VarId done = emitter.variable("row", facts.rows);
  open(fmt::format("for (std::int64_t {0} = $begin; {0} < kw_least($begin + KW_ROWS, {1}); ++{0}) {{", emitter.name(done),
                   facts.rows),
       {done});
  const Index index = facts.product_index(outer.batch, Affine::variable(done), 0);
  const DType dtype = writer.graph.dtype(facts.product);
  emitter.provide(facts.product, index,
                  emitter.named("sum", names.say(fmt::format("$totals[{} - $begin]", emitter.name(done))), dtype, false, index));
  if (stage.roots[0] != facts.product) writer.use("fuse_epilogue");
  store_roots(writer, stage, facts, index);
  for (int i = 0; i < outer.count + 2; ++i) emitter.close();
}

const Family product_family{"product", product_why_not, product_write};

}  // namespace kw
