// Attention: scores, their softmax and the weighted sum of values, block of keys after block of keys. A block's scores are in the
// nearest cache when they are used, and nowhere else: a row keeps its greatest score, the sum of its weights and its sums so far,
// and shrinks the last two when a greater score turns up.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/attention.h"
#include "playbook/product.h"
#include "playbook/product_pack.h"

namespace kw {
namespace {

// Of a score: longer sums are sums of sums. Up to here terms are added in the order of their positions, as libraries do: large
// scores are off by what their rounding makes of it, and two orders are off in different rows.
constexpr std::int64_t kLongestSum = 256;
constexpr double kAttentionWorthThreads = 200e3;  // multiplications

class AttentionWriter {
 public:
  AttentionWriter(StageWriter& writer, const Stage& stage, bool vector_packs, bool vector_scores)
      : writer_(writer),
        e_(writer.emitter),
        stage_(stage),
        attention_(writer.plan.attentions.at(stage.anchor)),
        scores_(product_facts(writer, {.roots = {attention_.product}, .anchor = attention_.product, .row_dims = {}}, false)),
        values_(product_facts(writer, stage, false)),
        names_(writer.emitter),
        vector_packs_(vector_packs),
        vector_scores_(vector_scores) {}

  void write() {
    decide();
    open("{");
    write_constants();
    for (std::string* name : {&pack_queries_, &pack_keys_, &pack_values_, &weigh_, &finish_}) *name = e_.unique(*name);
    write_pack(pack_queries_, scores_.left, scores_.depth, "KW_HEAD_ROWS", "query",
               [this](const Affine& b, const Affine& o, const Affine& i) { return scores_.left_index(b, o, i); });
    write_pack(pack_keys_, scores_.right, scores_.depth, "$tile", "key",
               [this](const Affine& b, const Affine& o, const Affine& i) { return scores_.right_index(b, i, o); });
    write_pack(pack_values_, values_.right, values_.depth, "$tile", "column",
               [this](const Affine& b, const Affine& o, const Affine& i) { return values_.right_index(b, i, o); });
    write_weigh();
    write_finish();
    write_parts();
    e_.close();
  }

 private:
  void line(const std::string& text) { e_.line(names_.say(text)); }
  void open(const std::string& header, const std::vector<VarId>& variables = {}) { e_.open(names_.say(header), variables); }
  [[nodiscard]] std::string item(const std::string& more) const { return scores_.batches > 1 ? "$item, " + more : more; }

  void decide() {
    for (const char* strategy : {"online_attention", "explicit_vectors", "register_tile"}) writer_.use(strategy);
    for (const char* piece :
         {"product_tile", "least", "most", "load", "store", "splat", "maximum", "max", "sum", "scalar_maximum", "scalar_exp"})
      e_.need(piece);
    const bool many_registers = writer_.machine.vector_bytes != 32;
    const auto divides = [&](std::int64_t vectors) { return values_.columns % (vectors * e_.lanes) == 0; };
    const std::int64_t vectors = !many_registers ? 2 : divides(4) ? 4 : divides(3) ? 3 : 2;
    writer_.knob("KW_HEAD_ROWS", many_registers ? 24 / vectors : 6, {4, 6, 8, 12});
    writer_.knob("KW_HEAD_VECTORS", vectors, {1, 2, 3, 4});
    writer_.require(fmt::format("KW_HEAD_ROWS * KW_HEAD_VECTORS <= {}", many_registers ? 28 : 14));
    // Sums of all rows of a part, and keys and values of a block. With wide heads neither stays in the second cache, and that costs
    // less than small blocks do: each part packs all keys and values, and each block visits all sums.
    const auto most = static_cast<std::int64_t>(writer_.machine.l2_bytes / 4);
    const std::int64_t tasks = 2 * std::max(writer_.machine.threads, 1);
    std::int64_t queries = 256;
    while (queries > 32 && (queries * values_.columns > most || scores_.batches * (scores_.rows / queries) < tasks)) queries /= 2;
    std::int64_t keys = 256;
    while (keys > 32 && keys * (scores_.depth + values_.columns) > most) keys /= 2;
    writer_.knob("KW_QUERIES", queries, {32, 64, 128, 256});
    writer_.knob("KW_KEYS", keys, {32, 64, 128, 256});
    writer_.knob("KW_HEAD_GROUP", 4, {1, 2, 4, 8});
    const bool cuts = attention_.seen && (attention_.seen->high < scores_.columns - 1 || attention_.seen->low > 1 - scores_.rows);
    skips_ = cuts && writer_.use("skip_zero_triangle");
    if (scores_.left.computed || scores_.right.computed || values_.right.computed) writer_.use("fuse_prologue");
    if (std::ranges::any_of(stage_.roots, [&](ValueId root) { return writer_.graph.at(root).kind == ValueKind::pointwise; }))
      writer_.use("fuse_epilogue");
  }

  void write_constants() {
    line("constexpr std::int64_t $tile = KW_HEAD_VECTORS * kw_lanes;");
    line("constexpr std::int64_t $keys = (KW_KEYS + $tile - 1) / $tile * $tile;");
    line(fmt::format(
        "constexpr std::int64_t $queries = (kw_least(KW_QUERIES, {}) + KW_HEAD_ROWS - 1) / KW_HEAD_ROWS * KW_HEAD_ROWS;",
        scores_.rows));
    line("constexpr std::int64_t $group = KW_HEAD_GROUP * KW_HEAD_ROWS;");
    line(fmt::format("constexpr std::int64_t $width = ({} + $tile - 1) / $tile * $tile;", values_.columns));
    // Memory of a thread; sizes in terms of knobs alone, because it is declared outside of the kernel.
    const std::string keys = "(KW_KEYS + KW_HEAD_VECTORS * kw_lanes)";
    const std::string queries = "(KW_QUERIES + KW_HEAD_ROWS)";
    const std::string width = fmt::format("({} + KW_HEAD_VECTORS * kw_lanes)", values_.columns);
    query_memory_ = writer_.scratch("queries_packed", "float", fmt::format("{} * {} + 64", queries, scores_.depth), true);
    key_memory_ = writer_.scratch("keys_packed", "float", fmt::format("{} * {} + 64", keys, scores_.depth), true);
    value_memory_ = writer_.scratch("values_packed", "float", fmt::format("{} * {} + 64", keys, width), true);
    score_memory_ = writer_.scratch("block_scores", "float", fmt::format("KW_HEAD_GROUP * KW_HEAD_ROWS * {}", keys), true);
    sum_memory_ = writer_.scratch("row_sums", "float", fmt::format("{} * {}", queries, width), true);
  }

  void write_pack(const std::string& name, const ProductOperand& operand, std::int64_t depth, const std::string& width,
                  const std::string& outer, std::function<Index(const Affine&, const Affine&, const Affine&)> index) {
    write_pack_function(e_, {operand, scores_.batches, depth, names_.say(width), outer, std::move(index)}, name, vector_packs_);
  }

  // The score at a position of the product, from the sum that is in memory.
  Expr score(const Affine& batch, const Affine& row, const Affine& column, const std::string& sum, bool vector) {
    const Index index = scores_.product_index(batch, row, column);
    e_.provide(attention_.product, index, e_.named("dot", sum, DType::f32, vector, index));
    return e_.emit(attention_.scores, root_index(e_, writer_.graph, scores_, index, attention_.scores));
  }

  // One row of a block's scores becomes weights; answers with what the row's earlier weights shrink by.
  void write_weigh() {
    std::vector<VarId> variables;
    if (scores_.batches > 1) variables.push_back(e_.variable("item", scores_.batches));
    const Affine batch = variables.empty() ? Affine(0) : Affine::variable(variables[0]);
    const VarId row = e_.variable("row", scores_.rows);
    const std::string items = variables.empty() ? "" : fmt::format("std::int64_t {}, ", e_.name(variables[0]));
    variables.push_back(row);
    open(fmt::format("const auto {} = [&]({}std::int64_t {}, std::int64_t $from, std::int64_t $to, float* $line, float& $greatest, "
                     "float& $total) {{",
                     weigh_, items, e_.name(row)),
         variables);
    const Affine r = Affine::variable(row);
    line("float $higher = $greatest;");
    const auto loop = [&](bool vector, const std::function<void(VarId, const std::string&)>& body) {
      const VarId column = e_.variable("key", scores_.columns, vector);
      const std::string c = e_.name(column);
      const bool after_vectors = vector_scores_ && !vector;
      open(vector ? fmt::format("for (std::int64_t {0} = $from; {0} + kw_lanes <= $to; {0} += kw_lanes) {{", c)
                  : fmt::format("for (std::int64_t {0} = {1}; {0} < $to; ++{0}) {{", c,
                                after_vectors ? "$to - ($to - $from) % kw_lanes" : "$from"),
           {column});
      body(column, names_.say(fmt::format("$line + ({} - $from)", c)));
      e_.close();
    };
    const bool rest = !vector_scores_ || scores_.columns % kMostLanes != 0;
    if (vector_scores_) {
      line("kw_vec $top = kw_splat($greatest);");
      loop(true, [&](VarId column, const std::string& place) {
        const Expr value = e_.as_vector(score(batch, r, Affine::variable(column), fmt::format("kw_load({})", place), true));
        line(fmt::format("$top = kw_maximum($top, {});", value.text));
        line(fmt::format("kw_store({}, {});", place, value.text));
      });
      line("$higher = kw_max($top);");
    }
    if (rest)
      loop(false, [&](VarId column, const std::string& place) {
        const Expr value = score(batch, r, Affine::variable(column), fmt::format("*({})", place), false);
        line(fmt::format("$higher = kw_maximum($higher, {});", value.text));
        line(fmt::format("*({}) = {};", place, value.text));
      });
    line("float $sum = 0.0f;");
    if (vector_scores_) {
      line("kw_vec $lanes = kw_splat(0.0f);");
      loop(true, [&](VarId, const std::string& place) {
        const std::string shifted = names_.say(fmt::format("(kw_load({}) - kw_splat($higher))", place));
        const Expr weight = e_.exp_to_one({shifted, DType::f32, true});
        line(fmt::format("const kw_vec $weight = {};", weight.text));
        line(fmt::format("kw_store({}, $weight);", place));
        line("$lanes += $weight;");
      });
      line("$sum = kw_sum($lanes);");
    }
    if (rest)
      loop(false, [&](VarId, const std::string& place) {
        line(fmt::format("const float $single = kw_exp(*({}) - $higher);", place));
        line(fmt::format("*({}) = $single;", place));
        line("$sum += $single;");
      });
    line("const float $shrink = kw_exp($greatest - $higher);");
    line("$total = $total * $shrink + $sum;");
    line("$greatest = $higher;");
    line("return $shrink;");
    e_.close("};");
  }

  // A row's sums, divided by the sum of its weights: everything that follows the attention, and the stores.
  void write_finish() {
    std::vector<VarId> variables;
    if (values_.batches > 1) variables.push_back(e_.variable("item", values_.batches));
    const Affine batch = variables.empty() ? Affine(0) : Affine::variable(variables[0]);
    const VarId row = e_.variable("row", values_.rows);
    const std::string items = variables.empty() ? "" : fmt::format("std::int64_t {}, ", e_.name(variables[0]));
    variables.push_back(row);
    open(fmt::format("const auto {} = [&]({}std::int64_t {}, const float* $sums, float $share) {{", finish_, items, e_.name(row)),
         variables);
    const auto element = [&](VarId column, bool vector) {
      const Index index = values_.product_index(batch, Affine::variable(row), Affine::variable(column));
      const std::string place = fmt::format("$sums + {}", e_.name(column));
      const std::string text =
          names_.say(vector ? fmt::format("kw_load({}) * $share", place) : fmt::format("*({}) * $share", place));
      e_.provide(values_.product, index, e_.named("attended", text, DType::f32, vector, index));
      for (const ValueId root : stage_.roots) {
        const Index at = root_index(e_, writer_.graph, values_, index, root);
        e_.store(writer_.buffer(root), at, e_.emit(root, at));
      }
    };
    const bool vectors = vector_scores_ && values_.columns >= e_.lanes;
    if (vectors) {
      const VarId column = e_.variable("column", values_.columns, true);
      open(fmt::format("for (std::int64_t {0} = 0; {0} + kw_lanes <= {1}; {0} += kw_lanes) {{", e_.name(column), values_.columns),
           {column});
      element(column, true);
      e_.close();
    }
    if (!vectors || values_.columns % kMostLanes != 0) {
      const VarId column = e_.variable("column", values_.columns);
      open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", e_.name(column),
                       vectors ? fmt::format("{0} / kw_lanes * kw_lanes", values_.columns) : "0", values_.columns),
           {column});
      element(column, false);
      e_.close();
    }
    e_.close("};");
  }

  // The keys that rows `first` to `last` see, of [begin, end): whole tiles from `begin` on, whole vectors at the end.
  void write_seen(const std::string& from, const std::string& to, const std::string& begin, const std::string& end,
                  const std::string& first, const std::string& last) {
    std::string low = begin;
    std::string high = end;
    if (skips_ && attention_.seen->low > -scores_.rows)
      low = fmt::format("{0} + kw_most({1} + {2} - {0}, 0) / $tile * $tile", begin, first, attention_.seen->low);
    if (skips_ && attention_.seen->high < scores_.columns)
      high = fmt::format("kw_least({}, kw_most({} + {} + kw_lanes, 0) / kw_lanes * kw_lanes)", end, last, attention_.seen->high);
    line(fmt::format("const std::int64_t {} = {}, {} = {};", from, low, to, high));
  }

  void write_parts() {
    const bool batched = scores_.batches > 1;
    const bool worth = scores_.multiplications() + values_.multiplications() >= kAttentionWorthThreads;
    if (worth && (writer_.use("parallel_panels") || writer_.use("parallel_outer"))) {
      const bool uneven = writer_.use("balanced_schedule");
      line(fmt::format("#pragma omp parallel for{} schedule({})", batched ? " collapse(2)" : "", uneven ? "dynamic" : "static"));
    }
    if (batched) open(fmt::format("for (std::int64_t $item = 0; $item < {}; ++$item) {{", scores_.batches));
    open(fmt::format("for (std::int64_t $begin = 0; $begin < {}; $begin += $queries) {{", scores_.rows));
    line(fmt::format("const std::int64_t $end = kw_least($begin + $queries, {});", scores_.rows));
    const auto pointer = [&](const char* name, const std::string& memory) {
      line(fmt::format("float* const {} = {};", name, memory));
    };
    pointer("$left", query_memory_);
    pointer("$right", key_memory_);
    pointer("$packed", value_memory_);
    pointer("$block_scores", score_memory_);
    pointer("$sums", sum_memory_);
    line("float $tops[$queries], $totals[$queries];");
    // Not minus infinity: the difference of two of them has no value.
    line("for (std::int64_t $i = 0; $i < $queries; ++$i) $tops[$i] = -3.402823466e+38f, $totals[$i] = 0.0f;");
    line("for (std::int64_t $i = 0; $i < $queries * $width; ++$i) $sums[$i] = 0.0f;");
    line(fmt::format("{}({});", pack_queries_, item(fmt::format("0, {}, $begin, $end, $left", scores_.depth))));
    write_seen("$first_key", "$last_key", "0", fmt::format("{}", scores_.columns), "$begin", "($end - 1)");
    open("for (std::int64_t $block = $first_key; $block < $last_key; $block += $keys) {");
    line("const std::int64_t $block_end = kw_least($block + $keys, $last_key), $steps = $block_end - $block;");
    line(fmt::format("{}({});", pack_keys_, item(fmt::format("0, {}, $block, $block_end, $right", scores_.depth))));
    line(fmt::format("{}({});", pack_values_, item(fmt::format("$block, $steps, 0, {}, $packed", values_.columns))));
    write_block();
    e_.close();
    line(fmt::format("for (std::int64_t $row = $begin; $row < $end; ++$row) {}({});", finish_,
                     item(fmt::format("$row, $sums + ($row - $begin) * $width, {}1.0f / $totals[$row - $begin]",
                                      attention_.unseen_is_zero ? "$totals[$row - $begin] == 0.0f ? 0.0f : " : ""))));
    e_.close();
    if (batched) e_.close();
  }

  void write_block() {
    open("for (std::int64_t $rows = $begin; $rows < $end; $rows += $group) {");
    line("const std::int64_t $rows_end = kw_least($rows + $group, $end);");
    write_seen("$from", "$to", "$block", "$block_end", "$rows", "($rows_end - 1)");
    if (skips_) line("if ($from >= $to) continue;");
    open("for (std::int64_t $key = $from; $key < $to; $key += $tile) {");
    open("for (std::int64_t $row = $rows; $row < $rows_end; $row += KW_HEAD_ROWS) {");
    line("float* const $place = $block_scores + ($row - $rows) * $keys + ($key - $from);");
    const std::string left = fmt::format("$left + ($row - $begin) * {}", scores_.depth);
    const std::string right = fmt::format("$right + ($key - $block) * {}", scores_.depth);
    const auto dot = [](const std::string& a, const std::string& b, const std::string& steps, const std::string& before) {
      return fmt::format("kw_product_tile<KW_HEAD_ROWS, KW_HEAD_VECTORS, 1, KW_HEAD_ROWS, $tile, $keys>({}, {}, {}, {}, $place);",
                         a, b, steps, before);
    };
    if (scores_.depth <= kLongestSum) {
      line(dot(left, right, fmt::format("{}", scores_.depth), "nullptr"));
    } else {
      line(fmt::format("for (std::int64_t $inner = 0; $inner < {}; $inner += {})\n  ", scores_.depth, kLongestSum) +
           dot(left + " + $inner * KW_HEAD_ROWS", right + " + $inner * $tile",
               fmt::format("kw_least({}, {} - $inner)", kLongestSum, scores_.depth), "$inner > 0 ? $place : nullptr"));
    }
    e_.close();
    e_.close();
    open("for (std::int64_t $row = $rows; $row < $rows_end; ++$row) {");
    line("const std::int64_t $own = $row - $begin;");
    line(fmt::format("const float $factor = {}({});", weigh_,
                     item("$row, $from, $to, $block_scores + ($row - $rows) * $keys, $tops[$own], $totals[$own]")));
    line(
        "if ($factor != 1.0f)\n"
        "  for (std::int64_t $i = 0; $i < $width; $i += kw_lanes)\n"
        "    kw_store($sums + $own * $width + $i, kw_load($sums + $own * $width + $i) * $factor);");
    e_.close();
    // Rows past the last are copies of it, or scores that nobody weighed: their sums are never read.
    open(fmt::format("for (std::int64_t $side = 0; $side < {}; $side += $tile) {{", values_.columns));
    open("for (std::int64_t $row = $rows; $row < $rows_end; $row += KW_HEAD_ROWS) {");
    line("float* const $place = $sums + ($row - $begin) * $width + $side;");
    const auto add = [&](const char* vectors) {
      return fmt::format(
          "kw_product_tile<KW_HEAD_ROWS, {}, $keys, 1, $tile, $width>($block_scores + ($row - $rows) * $keys, $packed + $side * "
          "$steps + ($from - $block) * $tile, $to - $from, $place, $place);",
          vectors);
    };
    line(fmt::format("constexpr int $edge = ({0} % $tile + kw_lanes - 1) / kw_lanes;", values_.columns));
    line(fmt::format("if ($edge == 0 || $side + $tile <= {}) {}", values_.columns, add("KW_HEAD_VECTORS")));
    line(fmt::format("else {}", add("($edge > 0 ? $edge : 1)")));
    for (int i = 0; i < 3; ++i) e_.close();
  }

  StageWriter& writer_;
  Emitter& e_;
  const Stage& stage_;
  const Attention& attention_;
  ProductFacts scores_;
  ProductFacts values_;
  LocalNames names_;
  bool vector_packs_;
  bool vector_scores_;
  bool skips_ = false;
  std::string query_memory_, key_memory_, value_memory_, score_memory_, sum_memory_;
  std::string pack_queries_ = "pack_queries", pack_keys_ = "pack_keys", pack_values_ = "pack_values", weigh_ = "weigh",
              finish_ = "finish_row";
};

std::string attention_why_not(const StageWriter& writer, const Stage& stage) {
  return writer.plan.attentions.contains(stage.anchor) ? "" : "no attention";
}

void write_attention(StageWriter& writer, const Stage& stage) {
  for (const bool vector_packs : {true, false})
    for (const bool vector_scores : {true, false})
      if (writer.attempt([&] { AttentionWriter(writer, stage, vector_packs, vector_scores).write(); })) return;
}

}  // namespace

const Family attention_family{"attention", attention_why_not, write_attention};

}  // namespace kw
