// Dense products: tiles of the output in registers, over panels of the operands in the order in which tiles read them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/product.h"
#include "playbook/product_pack.h"
#include "playbook/product_parts.h"

namespace kw {
namespace {

constexpr std::int64_t kLongestBlock = 256;    // of the inner dimension: longer sums are sums of sums, for their precision
constexpr std::int64_t kBlockColumns = 1024;   // of the right operand, packed at a time
constexpr std::int64_t kMostBlockRows = 1024;  // of the left operand, packed at a time, where cache_tile_rows is not wanted
constexpr std::int64_t kWorthRowBlocks = 192;  // rows up to this are one block

std::int64_t tile_registers(const MachineFacts& machine) { return machine.vector_bytes == 32 ? 16 : 32; }

class DenseProduct {
 public:
  DenseProduct(StageWriter& writer, const Stage& stage, const ProductFacts& facts, bool vector_packs, bool vector_finish)
      : writer_(writer),
        emitter_(writer.emitter),
        stage_(stage),
        facts_(facts),
        names_(writer.emitter),
        vector_packs_(vector_packs),
        vector_finish_(vector_finish) {}

  void write() {
    decide();
    open("{");
    write_constants(emitter_, names_);
    take_memory();
    if (left_packed_) write_pack_function(emitter_, left_panel(), pack_left_, vector_packs_);
    if (right_packed_ || right_edge_) {
      PanelText panel = right_panel();
      panel.width = names_.say(panel.width);
      write_pack_function(emitter_, panel, pack_right_, vector_packs_);
    }
    if (!product_only_) write_finish();
    write_multiply();
    write_parts();
    emitter_.close();
  }

 private:
  void line(const std::string& text) { emitter_.line(names_.say(text)); }
  void open(const std::string& header, const std::vector<VarId>& variables = {}) { emitter_.open(names_.say(header), variables); }

  // Which strategies take effect, and the numbers that the text is made with.
  void decide() {
    writer_.use("explicit_vectors");
    writer_.use("register_tile");
    const std::int64_t registers = tile_registers(writer_.machine);
    for (const char* piece : {"product_tile", "least"}) emitter_.need(piece);
    const bool few_rows = facts_.rows < 4;
    // Of the tiles that fill 32 registers, the one that leaves no columns over.
    const auto divides = [&](std::int64_t vectors) { return facts_.columns % (vectors * emitter_.lanes) == 0; };
    const std::int64_t vectors = registers != 32 ? 2 : divides(3) ? 3 : divides(4) ? 4 : divides(2) ? 2 : 3;
    writer_.knob("KW_MR", few_rows ? 4 : registers == 32 ? 24 / vectors : 6, {4, 6, 8, 12});
    writer_.knob("KW_NR", few_rows ? 3 : vectors, {1, 2, 3, 4});
    writer_.require(fmt::format("KW_MR * KW_NR <= {}", registers == 32 ? 28 : 14));

    skip_zeros_ = writer_.wants("skip_zero_triangle") && facts_.rows > 16 && facts_.depth > 16 &&
                  (facts_.left_band || facts_.right_band || facts_.result_band);
    right_prepacked_ = !skip_zeros_ && worth_prepacking(facts_.right) && writer_.use("prepack_weights");
    left_prepacked_ = !skip_zeros_ && !right_prepacked_ && worth_prepacking(facts_.left) && writer_.use("prepack_weights");
    left_packed_ = !left_prepacked_ && (skip_zeros_ || !facts_.left.direct || writer_.wants("pack_left"));
    const bool right_readable = facts_.right.direct && facts_.right.direct->outer == 1;
    right_packed_ = !right_prepacked_ && (skip_zeros_ || !right_readable || writer_.wants("pack_right"));
    right_edge_ = !right_packed_ && !right_prepacked_ && facts_.columns % kMostLanes != 0;
    if (left_packed_) writer_.claim("pack_left");
    if (right_packed_) writer_.claim("pack_right");
    if (skip_zeros_) {
      writer_.claim("skip_zero_triangle");
      for (const char* piece : {"panel_facts", "most"}) emitter_.need(piece);
    }
    if ((facts_.left.computed && (left_packed_ || left_prepacked_)) ||
        (facts_.right.computed && (right_packed_ || right_prepacked_)))
      writer_.use("fuse_prologue");
    if (std::ranges::any_of(stage_.roots, [&](ValueId root) { return writer_.graph.at(root).kind == ValueKind::pointwise; }))
      writer_.use("fuse_epilogue");

    parts_ = product_parts(writer_, facts_, right_packed_, skip_zeros_);
    const std::int64_t longest = parts_.split ? parts_.depth : facts_.depth;
    depth_limit_ = fmt::format("{}", std::min(longest, kLongestBlock));
    blocks_ = longest > kLongestBlock;
    if (blocks_ && writer_.use("cache_tile_depth"))
      depth_limit_ = writer_.knob("KW_KC", tile_registers(writer_.machine) == 32 ? 384 : kLongestBlock, {128, 192, 256, 384, 512});
    memory_depth_ = facts_.group() > 1 ? fmt::format("({} + {})", depth_limit_, facts_.group()) : depth_limit_;
    decide_place();
    row_limit_ = fmt::format("{}", std::min(facts_.rows, kMostBlockRows));
    if (left_packed_ && facts_.rows > kWorthRowBlocks && writer_.use("cache_tile_rows"))
      row_limit_ = writer_.knob("KW_MC", 144, {48, 72, 96, 144, 192});
    if (left_prepacked_)
      row_limit_ = fmt::format(
          "{}", std::clamp<std::int64_t>(lines_in_cache(0.4, longest), kWorthRowBlocks, std::max(facts_.rows, kWorthRowBlocks)));
  }

  // Weights in few bytes become floats panel by panel, while the panel is in cache. Where that takes one element after the other,
  // all of them become floats once.
  [[nodiscard]] bool worth_prepacking(const ProductOperand& operand) const {
    return operand.from_parameters && !(operand.narrow && vector_packs_ && operand.order != PackOrder::single);
  }

  // Whether sums are kept in the output's own memory: where it has a place for each of them. The last columns, where vectors would
  // reach into the next row, have memory of their own.
  void decide_place() {
    const ValueId root = stage_.roots[0];
    const bool fits = stage_.roots.size() == 1 && !facts_.swapped && !parts_.split && writer_.buffer(root).dtype == DType::f32 &&
                      numel(writer_.graph.shape(root)) == numel(writer_.graph.shape(facts_.product));
    const bool whole_rows = facts_.columns % kMostLanes == 0;
    product_only_ = fits && whole_rows && root == facts_.product;
    in_place_ = fits && (blocks_ || product_only_);
    edge_apart_ = in_place_ && !whole_rows;
    streamed_ = product_only_ && !blocks_ && streams_past_cache(writer_, root);
    if (streamed_) emitter_.use("stream_stores");
  }

  // Constants of the text; also those of kw_prepare's.
  void write_constants(Emitter& to, LocalNames& names) {
    const std::string blocks = to.unique("depth_blocks");
    to.line(names.say("constexpr std::int64_t $tile_columns = KW_NR * kw_lanes;"));
    to.line(fmt::format("constexpr std::int64_t {} = ({} + {} - 1) / ({});", blocks, parts_.split ? parts_.depth : facts_.depth,
                        depth_limit_, depth_limit_));
    const std::string even = fmt::format("({} + {} - 1) / {}", parts_.split ? parts_.depth : facts_.depth, blocks, blocks);
    const std::int64_t group = facts_.group();
    to.line(names.say(fmt::format("constexpr std::int64_t $block_depth = {};",
                                  group == 1 ? even : fmt::format("({} + {} - 1) / {} * {}", even, group, group, group))));
  }

  std::string padded_rows() const { return fmt::format("(({} + KW_MR - 1) / KW_MR * KW_MR)", facts_.rows); }
  std::string padded_columns() const {
    return fmt::format("(({} + KW_NR * kw_lanes - 1) / (KW_NR * kw_lanes) * (KW_NR * kw_lanes))", facts_.columns);
  }
  // Rows or columns of a block of the inner dimension that take so much of the second cache.
  [[nodiscard]] std::int64_t lines_in_cache(double share, std::int64_t depth) const {
    const std::int64_t block = std::clamp<std::int64_t>(depth, 1, kLongestBlock);
    return static_cast<std::int64_t>(share * writer_.machine.l2_bytes / 4) / block;
  }

  // Blocks of one size, as near to the wanted one as whole blocks allow. Where the left operand needs no packing, what is packed of
  // the right one need not last for long: it stays beside it in the second cache.
  std::int64_t block_columns() const {
    const std::int64_t part = (facts_.columns + parts_.of_columns - 1) / parts_.of_columns;
    std::int64_t wanted = skip_zeros_ ? kBlockColumns / 2 : kBlockColumns;
    if (left_prepacked_ && right_packed_)
      wanted = std::clamp<std::int64_t>(lines_in_cache(0.25, facts_.depth), 4 * kMostLanes, kBlockColumns);
    const std::int64_t blocks = (part + wanted - 1) / wanted;
    return (part + blocks - 1) / blocks;
  }

  PanelText left_panel() const {
    return {
        facts_.left,
        facts_.batches,
        facts_.depth,
        "KW_MR",
        "row",
        [this](const Affine& batch, const Affine& outer, const Affine& inner) { return facts_.left_index(batch, outer, inner); }};
  }
  PanelText right_panel() const {
    return {
        facts_.right,
        facts_.batches,
        facts_.depth,
        "$tile_columns",
        "column",
        [this](const Affine& batch, const Affine& outer, const Affine& inner) { return facts_.right_index(batch, inner, outer); }};
  }

  void take_memory() {
    if (left_packed_)
      left_memory_ =
          writer_.scratch("packed_left", "float", fmt::format("{} * ({} + KW_MR) + 64", memory_depth_, row_limit_), true);
    if (right_packed_ || right_edge_)
      right_memory_ =
          writer_.scratch("packed_right", "float",
                          right_packed_ ? fmt::format("{} * ({} + KW_NR * kw_lanes) + 64", memory_depth_, block_columns())
                                        : fmt::format("{} * KW_NR * kw_lanes + 64", memory_depth_),
                          !parts_.shared);
    if (in_place_)
      sums_memory_ = writer_.buffer(stage_.roots[0]).name;
    else if (blocks_ || parts_.split)
      sums_memory_ = writer_.scratch(
          "sums", "float", fmt::format("{} * {} * {}", parts_.of_depth * facts_.batches, padded_rows(), padded_columns()));
    if (edge_apart_)
      edge_memory_ =
          writer_.scratch("edge_sums", "float", fmt::format("{} * {} * (KW_NR * kw_lanes)", facts_.batches, padded_rows()));
    if (left_prepacked_) left_memory_ = prepared(left_panel(), "weights_packed", padded_rows());
    if (right_prepacked_) right_memory_ = prepared(right_panel(), "weights_packed", padded_columns());
    for (std::string* name : {&pack_left_, &pack_right_, &finish_, &multiply_}) *name = emitter_.unique(*name);
  }

  // All panels of an operand that depends on weights alone, block after block of the inner dimension.
  std::string prepared(const PanelText& panel, const std::string& hint, const std::string& padded) {
    const std::int64_t batches = panel.operand.shared ? 1 : facts_.batches;
    return writer_.prepared(
        hint, fmt::format("{} * {} * {} + 64", batches, facts_.depth, padded), [&](Emitter& to, const std::string& name) {
          to.open("{");
          LocalNames names(to);
          write_constants(to, names);
          const std::string pack = to.unique("pack_weights");
          PanelText own = panel;
          own.batches = batches;
          own.width = names.say(own.width);
          write_pack_function(to, own, pack, vector_packs_);
          const std::string batch = to.unique("item");
          if (batches > 1) to.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; ++{0}) {{", batch, batches));
          const std::string first = to.unique("first");
          std::string begin = "0", end = fmt::format("{}", facts_.depth);
          if (parts_.split) {  // blocks begin anew with each part, as they do where they are read
            begin = to.unique("begin");
            to.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", begin, facts_.depth, parts_.depth));
            end = to.unique("end");
            to.line(fmt::format("const std::int64_t {} = kw_least({} + {}, {});", end, begin, parts_.depth, facts_.depth));
          }
          to.open(names.say(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; {0} += $block_depth) {{", first, begin, end)));
          const std::string item = batches > 1 ? batch + ", " : "";
          const std::string offset = batches > 1 ? fmt::format("({} * {} + {})", batch, facts_.depth, first) : first;
          to.line(names.say(fmt::format("{}({}{}, kw_least($block_depth, {} - {}), 0, {}, {} + {} * {});", pack, item, first, end,
                                        first, panel.operand.extent, name, offset, padded)));
          if (parts_.split) to.close();
          to.close();
          if (batches > 1) to.close();
          to.close();
        });
  }

  std::string batch_argument(const std::string& name) const { return facts_.batches > 1 ? name + ", " : ""; }

  // What becomes of a tile's sums: everything that follows the product, and the stores.
  void write_finish() {
    std::vector<VarId> variables;
    if (facts_.batches > 1) variables.push_back(emitter_.variable("batch", facts_.batches));
    const Affine batch = variables.empty() ? Affine(0) : Affine::variable(variables[0]);
    const std::string top = emitter_.unique("top");
    const std::string side = emitter_.unique("side");
    const std::string tile = emitter_.unique("tile");
    const std::string row_step = edge_apart_ ? emitter_.unique("row_step") : sums_row();
    open(fmt::format("const auto {} = [&]({}std::int64_t {}, std::int64_t {}, const float* {}{}) {{", finish_,
                     variables.empty() ? "" : fmt::format("std::int64_t {}, ", emitter_.name(variables[0])), top, side, tile,
                     edge_apart_ ? ", std::int64_t " + row_step : ""),
         variables);
    const std::string end = emitter_.unique("column_end");
    line(fmt::format("const std::int64_t {} = kw_least({} + $tile_columns, {});", end, side, facts_.columns));
    const VarId row = emitter_.variable("row", facts_.rows);
    const std::string r = emitter_.name(row);
    open(fmt::format("for (std::int64_t {0} = {1}; {0} < kw_least({1} + KW_MR, {2}); ++{0}) {{", r, top, facts_.rows), {row});
    if (vector_finish_) {
      const VarId column = emitter_.variable("column", facts_.columns, true);
      const std::string c = emitter_.name(column);
      open(fmt::format("for (std::int64_t {0} = {1}; {0} + kw_lanes <= {2}; {0} += kw_lanes) {{", c, side, end), {column});
      finish_element(facts_.product_index(batch, Affine::variable(row), Affine::variable(column)),
                     fmt::format("kw_load({} + ({} - {}) * {} + ({} - {}))", tile, r, top, row_step, c, side), true);
      emitter_.close();
    }
    if (!vector_finish_ || facts_.columns % kMostLanes != 0) {
      const VarId column = emitter_.variable("column", facts_.columns);
      const std::string c = emitter_.name(column);
      const std::string from = vector_finish_ ? fmt::format("{} - ({} - {}) % kw_lanes", end, end, side) : side;
      open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", c, from, end), {column});
      finish_element(facts_.product_index(batch, Affine::variable(row), Affine::variable(column)),
                     fmt::format("{}[({} - {}) * {} + ({} - {})]", tile, r, top, row_step, c, side), false);
      emitter_.close();
    }
    emitter_.close();
    emitter_.close("};");
  }

  void finish_element(const Index& index, const std::string& text, bool vector) {
    const DType dtype = writer_.graph.dtype(facts_.product);
    const Expr sum = emitter_.named("sum", names_.say(text), dtype, vector, index);
    emitter_.provide(facts_.product, index, sum);
    emitter_.provide(facts_.product, without_single_positions(index, writer_.graph.shape(facts_.product)), sum);
    for (const ValueId root : stage_.roots) {
      const Index at = root_index(emitter_, writer_.graph, facts_, index, root);
      emitter_.store(writer_.buffer(root), at, emitter_.emit(root, at));
    }
  }

  // A rectangle of the output, all by one thread, or by all of them together.
  void write_multiply() {
    const std::string batch = facts_.batches > 1 ? "std::int64_t $item, " : "";
    open(
        fmt::format("const auto {} = [&]({}{}std::int64_t $row_begin, std::int64_t $row_end, std::int64_t $column_begin, "
                    "std::int64_t $column_end) {{",
                    multiply_, batch, parts_.split ? "std::int64_t $part, " : ""));
    if (left_packed_) line(fmt::format("float* const $left_panels = {};", left_memory_));
    if (right_packed_ || right_edge_) line(fmt::format("float* const $right_panels = {};", right_memory_));
    if (parts_.shared) {
      // As many blocks as make equal work for all threads.
      line(fmt::format("constexpr std::int64_t $row_blocks = (({0} + {1} - 1) / {1} + {2} - 1) / {2} * {2};", facts_.rows,
                       row_limit_, writer_.machine.threads));
      line(fmt::format("constexpr std::int64_t $block_rows = (({0} + $row_blocks - 1) / $row_blocks + KW_MR - 1) / KW_MR * KW_MR;",
                       facts_.rows));
    } else {
      line(fmt::format("constexpr std::int64_t $block_rows = ({0} + KW_MR - 1) / KW_MR * KW_MR;", row_limit_));
    }
    line(fmt::format("constexpr std::int64_t $block_columns = ({} + $tile_columns - 1) / $tile_columns * $tile_columns;",
                     block_columns()));
    line(fmt::format("constexpr int $edge_rows = {0} % KW_MR != 0 ? {0} % KW_MR : KW_MR;", facts_.rows));
    line(fmt::format(
        "constexpr int $edge_vectors = {0} % $tile_columns != 0 ? ({0} % $tile_columns + kw_lanes - 1) / kw_lanes : KW_NR;",
        facts_.columns));
    if (skip_zeros_) {
      line("kw_panel_facts $left_facts[$block_rows / KW_MR], $right_facts[$block_columns / $tile_columns];");
    }
    const std::string depth_begin = parts_.split ? fmt::format("$part * {}", parts_.depth) : "0";
    if (parts_.split)
      line(fmt::format("const std::int64_t $depth_end = kw_least(($part + 1) * {}, {});", parts_.depth, facts_.depth));
    const std::string depth_end = parts_.split ? "$depth_end" : fmt::format("{}", facts_.depth);
    // Sums that go through memory between blocks of the inner dimension stay in a cache: columns are the outer loop.
    open("for (std::int64_t $block = $column_begin; $block < $column_end; $block += $block_columns) {");
    line("const std::int64_t $block_end = kw_least($block + $block_columns, $column_end);");
    open(fmt::format("for (std::int64_t $inner = {}; $inner < {}; $inner += $block_depth) {{", depth_begin, depth_end));
    line(fmt::format("const std::int64_t $steps = kw_least($block_depth, {} - $inner);", depth_end));
    if (right_edge_) write_edge_panel();
    if (right_packed_) {
      const std::string outside = skip_zeros_ ? outside_band("$row_begin", "$row_end - 1", "$block", "$block_end - 1") : "";
      if (!outside.empty()) open(fmt::format("if (!({})) {{", outside));
      if (parts_.shared)
        line(fmt::format(
            "#pragma omp for schedule(static)\n"
            "for (std::int64_t $panel = $block; $panel < $block_end; $panel += $tile_columns)\n"
            "  {}($inner, $steps, $panel, kw_least($panel + $tile_columns, $block_end), $right_panels + ($panel - $block) "
            "* $steps);",
            pack_right_));
      else
        line(fmt::format("{}({}$inner, $steps, $block, $block_end, $right_panels);", pack_right_, batch_argument("$item")));
      if (skip_zeros_)
        line(
            "for (std::int64_t $column = $block; $column < $block_end; $column += $tile_columns)\n"
            "  $right_facts[($column - $block) / $tile_columns].look<$tile_columns>($right_panels + ($column - $block) * $steps, "
            "$steps);");
      if (!outside.empty()) emitter_.close();
    }
    if (parts_.shared) line(fmt::format("#pragma omp for schedule({})", parts_.uneven ? "dynamic" : "static"));
    open("for (std::int64_t $rows = $row_begin; $rows < $row_end; $rows += $block_rows) {");
    line("const std::int64_t $rows_end = kw_least($rows + $block_rows, $row_end);");
    if (left_packed_) {
      const std::string outside = skip_zeros_ ? outside_band("$rows", "$rows_end - 1", "$block", "$block_end - 1") : "";
      if (!outside.empty()) open(fmt::format("if (!({})) {{", outside));
      line(fmt::format("{}({}$inner, $steps, $rows, $rows_end, $left_panels);", pack_left_, batch_argument("$item")));
      if (skip_zeros_)
        line(
            "for (std::int64_t $row = $rows; $row < $rows_end; $row += KW_MR)\n"
            "  $left_facts[($row - $rows) / KW_MR].look<KW_MR>($left_panels + ($row - $rows) * $steps, $steps);");
      if (!outside.empty()) emitter_.close();
    }
    open("for (std::int64_t $column = $block; $column < $block_end; $column += $tile_columns) {");
    write_right_pointer();
    open("for (std::int64_t $row = $rows; $row < $rows_end; $row += KW_MR) {");
    write_tile(depth_begin, depth_end);
    for (int open = 0; open < 5; ++open) emitter_.close();
    emitter_.close("};");
  }

  // The last columns, which no tile may read in place: past them may be the end of memory.
  void write_edge_panel() {
    line(
        fmt::format("if ({0} % $tile_columns != 0 && $column_end == {0}) {1}({2}$inner, $steps, {0} - {0} % $tile_columns, {0}, "
                    "$right_panels);",
                    facts_.columns, pack_right_, batch_argument("$item")));
  }

  std::string direct_address(const DirectOperand& direct, const std::string& outer) const {
    std::string text = direct.pointer;
    if (direct.offset != 0) text += fmt::format(" + {}", direct.offset);
    if (facts_.batches > 1 && direct.batch != 0) text += fmt::format(" + $item * {}", direct.batch);
    if (direct.inner != 0) text += fmt::format(" + $inner * {}", direct.inner);
    return text + fmt::format(" + {} * {}", outer, direct.outer);
  }

  void write_right_pointer() {
    if (right_packed_) {
      line("const float* const $right = $right_panels + ($column - $block) * $steps;");
      right_step_ = "$tile_columns";
    } else if (right_prepacked_) {
      line(fmt::format("const float* const $right = {} + {} * {} + $column * $steps;", right_memory_,
                       facts_.batches > 1 && !facts_.right.shared ? fmt::format("($item * {} + $inner)", facts_.depth) : "$inner",
                       padded_columns()));
      right_step_ = "$tile_columns";
    } else {
      const auto& direct = *facts_.right.direct;
      if (!right_edge_) {
        // Whole vectors always; a tile at the edge has fewer of them.
        line(fmt::format("const float* const $right = {};", direct_address(direct, "$column")));
        right_step_ = fmt::format("{}", direct.inner);
      } else {
        line(fmt::format("const float* const $right = $column + $tile_columns <= {} ? {} : $right_panels;", facts_.columns,
                         direct_address(direct, "$column")));
        right_step_ = fmt::format("{}", direct.inner);
      }
    }
  }

  void write_tile(const std::string& depth_begin, const std::string& depth_end) {
    std::string left_row = "1";
    std::string left_step = "KW_MR";
    if (left_packed_) {
      line("const float* $left = $left_panels + ($row - $rows) * $steps;");
    } else if (left_prepacked_) {
      line(fmt::format("const float* $left = {} + {} * {} + $row * $steps;", left_memory_,
                       facts_.batches > 1 && !facts_.left.shared ? fmt::format("($item * {} + $inner)", facts_.depth) : "$inner",
                       padded_rows()));
    } else {
      const auto& direct = *facts_.left.direct;
      line(fmt::format("const float* $left = {};", direct_address(direct, "$row")));
      left_row = fmt::format("{}", direct.outer);
      left_step = fmt::format("{}", direct.inner);
    }
    // Sums of earlier blocks are in memory; those of the last block only pass through on their way to the output.
    const bool pass_through = !parts_.split && !in_place_;
    if (pass_through) line("alignas(64) float $last[KW_MR * $tile_columns];");
    std::string before = "nullptr";
    std::string target = "$last";
    if (!sums_memory_.empty()) {
      std::string slot = parts_.split ? "$part" : "0";
      if (facts_.batches > 1) slot = parts_.split ? fmt::format("($part * {} + $item)", facts_.batches) : "$item";
      std::string place = tile_address(slot, "$row", "$column");
      if (edge_apart_)
        place = fmt::format("$column + $tile_columns <= {} ? {} : {} + ({}$row) * $tile_columns", facts_.columns, place,
                            edge_memory_, slot == "0" ? "" : fmt::format("{} * {} + ", slot, padded_rows()));
      line(fmt::format("float* const $tile = {};", place));
      before = fmt::format("$inner > {} ? $tile : nullptr", depth_begin);
      target = pass_through ? fmt::format("$inner + $steps == {} ? $last : $tile", depth_end) : "$tile";
    }
    std::string count = "$steps";
    std::string right = "$right";
    if (skip_zeros_) {
      write_range();
      count = "$to - $from";
      right = fmt::format("$right + $from * {}", right_step_);
      line(fmt::format("$left += $from * {};", left_step));
    }
    const auto call = [&](const std::string& rows, bool whole) {
      return fmt::format(
          "kw_product_tile<{}, {}, {}, {}, {}, {}{}>($left, {}, {}, {}, {});", rows, whole ? "KW_NR" : "$edge_vectors", left_row,
          left_step, whole || !right_edge_ ? right_step_ : "$tile_columns", whole || !edge_apart_ ? sums_row() : "$tile_columns",
          streamed_ ? ", true" : "", right, count, before, target);
    };
    line(fmt::format("const bool $all_rows = $row + KW_MR <= {}, $all_columns = $column + $tile_columns <= {};", facts_.rows,
                     facts_.columns));
    line("if ($all_rows && $all_columns) " + call("KW_MR", true));
    line("else if ($all_columns) " + call("$edge_rows", true));
    line("else if ($all_rows) " + call("KW_MR", false));
    line("else " + call("$edge_rows", false));
    if (parts_.split || product_only_) return;
    const std::string last = sums_memory_.empty() ? "" : fmt::format("if ($inner + $steps == {}) ", depth_end);
    line(fmt::format("{}{}({}$row, $column, {}{});", last, finish_, batch_argument("$item"), pass_through ? "$last" : "$tile",
                     edge_apart_ ? fmt::format(", $all_columns ? {} : $tile_columns", facts_.columns) : ""));
  }

  // The inner positions at which neither factor is zero by its panel.
  void write_range() {
    const std::string outside = outside_band("$row", "$row + KW_MR - 1", "$column", "$column + $tile_columns - 1");
    line("std::int64_t $from = 0, $to = $steps;");
    if (!outside.empty()) {
      line(fmt::format("if ({}) $to = 0;  // nothing of this tile is kept", outside));
      open("else {");
    }
    line(
        "const kw_panel_facts& $of_left = $left_facts[($row - $rows) / KW_MR];\n"
        "const kw_panel_facts& $of_right = $right_facts[($column - $block) / $tile_columns];\n"
        "if ($of_right.finite) $from = $of_left.begin, $to = $of_left.end;\n"
        "if ($of_left.finite) $from = kw_most($from, $of_right.begin), $to = kw_least($to, $of_right.end);\n"
        "$to = kw_most($from, $to);");
    if (!outside.empty()) emitter_.close();
  }

  // A condition under which nothing of these rows and columns of the result is kept; empty: there is none.
  std::string outside_band(const std::string& first_row, const std::string& last_row, const std::string& first_column,
                           const std::string& last_column) const {
    std::string condition;
    if (!facts_.result_band) return condition;
    if (facts_.result_band->high < facts_.columns)
      condition = fmt::format("{} > {} + {}", first_column, last_row, facts_.result_band->high);
    if (facts_.result_band->low > -facts_.rows)
      condition += fmt::format("{}{} < {} + {}", condition.empty() ? "" : " || ", last_column, first_row, facts_.result_band->low);
    return condition;
  }

  // How far apart the rows of a tile's sums are.
  std::string sums_row() const { return in_place_ ? fmt::format("{}", facts_.columns) : "$tile_columns"; }

  std::string tile_address(const std::string& slot, const std::string& row, const std::string& column) const {
    if (in_place_) {
      const std::string place = fmt::format("{} * {} + {}", row, facts_.columns, column);
      return slot == "0" ? fmt::format("{} + {}", sums_memory_, place)
                         : fmt::format("{} + {} * {} + {}", sums_memory_, slot, facts_.rows * facts_.columns, place);
    }
    const std::string place = fmt::format("{} * {} + {} * KW_MR", row, padded_columns(), column);
    return slot == "0" ? fmt::format("{} + {}", sums_memory_, place)
                       : fmt::format("{} + {} * ({} * {}) + {}", sums_memory_, slot, padded_rows(), padded_columns(), place);
  }

  void write_parts() {
    const std::string rows = fmt::format("{}", facts_.rows);
    const std::string columns = fmt::format("{}", facts_.columns);
    const bool batched = facts_.batches > 1;
    if (parts_.split) {
      if (parts_.parallel) line(fmt::format("#pragma omp parallel for collapse({}) schedule(dynamic)", batched ? 2 : 1));
      if (batched) open(fmt::format("for (std::int64_t $item = 0; $item < {}; ++$item) {{", facts_.batches));
      open(fmt::format("for (std::int64_t $part = 0; $part < {}; ++$part) {{", parts_.of_depth));
      line(fmt::format("{}({}$part, 0, {}, 0, {});", multiply_, batch_argument("$item"), rows, columns));
      emitter_.close();
      if (batched) emitter_.close();
      write_join();
      return;
    }
    const auto part = [](std::int64_t whole, std::int64_t parts, const char* unit) {
      return fmt::format("(({} + {} - 1) / {} + {} - 1) / {} * {}", whole, parts, parts, unit, unit, unit);
    };
    if (parts_.of_rows == 1 && parts_.of_columns == 1 && !batched) {
      if (parts_.shared) line("#pragma omp parallel");
      line(fmt::format("{}(0, {}, 0, {});", multiply_, rows, columns));
      return;
    }
    line(fmt::format("constexpr std::int64_t $part_rows = {}, $part_columns = {};", part(facts_.rows, parts_.of_rows, "KW_MR"),
                     part(facts_.columns, parts_.of_columns, "$tile_columns")));
    if (parts_.parallel)
      line(
          fmt::format("#pragma omp parallel for collapse({}) schedule({})", batched ? 3 : 2, parts_.uneven ? "dynamic" : "static"));
    if (batched) open(fmt::format("for (std::int64_t $item = 0; $item < {}; ++$item) {{", facts_.batches));
    open(fmt::format("for (std::int64_t $row = 0; $row < {}; $row += $part_rows) {{", rows));
    open(fmt::format("for (std::int64_t $column = 0; $column < {}; $column += $part_columns) {{", columns));
    line(fmt::format("{}({}$row, kw_least($row + $part_rows, {}), $column, kw_least($column + $part_columns, {}));", multiply_,
                     batch_argument("$item"), rows, columns));
    emitter_.close();
    emitter_.close();
    if (batched) emitter_.close();
  }

  // The parts' sums, joined tile by tile.
  void write_join() {
    const bool batched = facts_.batches > 1;
    line(fmt::format("#pragma omp parallel for collapse({}) schedule(static)", batched ? 3 : 2));
    if (batched) open(fmt::format("for (std::int64_t $item = 0; $item < {}; ++$item) {{", facts_.batches));
    open(fmt::format("for (std::int64_t $row = 0; $row < {}; $row += KW_MR) {{", facts_.rows));
    open(fmt::format("for (std::int64_t $column = 0; $column < {}; $column += $tile_columns) {{", facts_.columns));
    line(fmt::format("float* const $tile = {};", tile_address(batched ? "$item" : "0", "$row", "$column")));
    open(fmt::format("for (std::int64_t $part = 1; $part < {}; ++$part) {{", parts_.of_depth));
    line(fmt::format("const float* const $other = $tile + $part * ({} * {} * {});", facts_.batches, padded_rows(),
                     padded_columns()));
    line("for (std::int64_t i = 0; i < KW_MR * $tile_columns; ++i) $tile[i] += $other[i];");
    emitter_.close();
    line(fmt::format("{}({}$row, $column, $tile);", finish_, batch_argument("$item")));
    emitter_.close();
    emitter_.close();
    if (batched) emitter_.close();
  }

  StageWriter& writer_;
  Emitter& emitter_;
  const Stage& stage_;
  const ProductFacts& facts_;
  LocalNames names_;
  bool vector_packs_;
  bool vector_finish_;

  bool left_packed_ = false;
  bool right_packed_ = false;
  bool left_prepacked_ = false;
  bool right_prepacked_ = false;
  bool right_edge_ = false;  // only the last columns are packed
  bool skip_zeros_ = false;
  bool in_place_ = false;      // sums are kept in the output
  bool product_only_ = false;  // and nothing else becomes of them
  bool streamed_ = false;      // ... and they go past the caches
  bool edge_apart_ = false;    // but for those of the last columns
  bool blocks_ = false;        // several blocks of the inner dimension: sums are kept in memory between them
  ProductParts parts_;
  std::string depth_limit_;
  std::string memory_depth_;  // with what a block has more where groups stay whole
  std::string row_limit_;
  std::string left_memory_;
  std::string right_memory_;
  std::string sums_memory_;
  std::string edge_memory_;
  std::string right_step_;
  std::string pack_left_ = "pack_left";
  std::string pack_right_ = "pack_right";
  std::string finish_ = "finish";
  std::string multiply_ = "multiply";
};

}  // namespace

void write_dense_product(StageWriter& writer, const Stage& stage, const ProductFacts& facts, bool vector_packs,
                         bool vector_finish) {
  DenseProduct(writer, stage, facts, vector_packs, vector_finish).write();
}

}  // namespace kw
