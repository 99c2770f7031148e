// Convolutions in tiles of channels by pixels, from a copy of a block of the input that has the padding in it: there every tap of
// every output is a fixed offset away, whatever stride, dilation and padding are, and pixels of several rows are one line.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/convolution.h"
#include "playbook/loops.h"
#include "playbook/product.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

constexpr double kWorthSharing = 200e3;      // multiplications
constexpr std::int64_t kLongestChain = 256;  // products of a sum: longer ones are sums of sums, for their precision

const std::vector<std::int64_t> kTileRows{1, 2, 3, 4, 6, 8, 12};
const std::vector<std::int64_t> kTileVectors{1, 2, 3, 4, 6, 8};
const std::vector<std::int64_t> kRowsOfBlock{1, 2, 4, 8, 16, 32, 64, 128};
const std::vector<std::int64_t> kColumnsOfBlock{128, 256, 512, 1024, 2048, 4096, 8192};

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t divided_down(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

class TiledConvolution {
 public:
  TiledConvolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors)
      : writer_(writer), emitter_(writer.emitter), stage_(stage), facts_(facts), names_(writer.emitter), vectors_(vectors) {}

  void write() {
    decide();
    declare_constants();
    take_memory();
    emitter_.open("{");
    if (!prepacked_) write_weights(emitter_, weights_);
    write_block();
    write_calls();
    emitter_.close();
  }

 private:
  void line(const std::string& text) { emitter_.line(names_.say(text)); }
  void open(const std::string& header, const std::vector<VarId>& variables = {}) { emitter_.open(names_.say(header), variables); }
  [[nodiscard]] std::string constant(const std::string& name) const { return fmt::format("{}::{}", constants_, name); }
  [[nodiscard]] bool one_row() const { return facts_.row.positions == 1; }

  // Which strategies take effect, and the numbers that the text is made with.
  void decide() {
    writer_.use("explicit_vectors");
    writer_.use("convolution_tile");
    for (const char* piece : {"convolution_line", "least", "most"}) emitter_.need(piece);
    const std::int64_t registers = writer_.machine.vector_bytes == 64 ? 24 : 12;
    const std::int64_t rows = tile_rows(registers);
    const std::int64_t vectors =
        *std::prev(std::ranges::upper_bound(kTileVectors, std::clamp<std::int64_t>(registers / rows, 1, 8)));
    writer_.knob("KW_FEATURES", rows, kTileRows);
    writer_.knob("KW_PIXELS", vectors, kTileVectors);
    writer_.require(fmt::format("KW_FEATURES * KW_PIXELS <= {}", registers == 24 ? 28 : 14));
    const bool own_stage = emitter_.buffer_of(facts_.weight) != nullptr && !writer_.plan.prepared.contains(facts_.weight);
    prepacked_ = writer_.plan.from_parameters.contains(facts_.weight) && !own_stage && writer_.use("prepack_weights");
    if (std::ranges::any_of(stage_.roots, [&](ValueId root) { return root != facts_.value; })) writer_.use("fuse_epilogue");
    if (!is_in_memory(facts_.input)) writer_.use("fuse_prologue");
    decide_block();
    constants_ = emitter_.unique("convolution");
  }

  [[nodiscard]] bool is_in_memory(ValueId id) const {
    while (emitter_.buffer_of(id) == nullptr &&
           (writer_.graph.at(id).kind == ValueKind::view || writer_.graph.at(id).kind == ValueKind::reshape))
      id = writer_.graph.at(id).operands[0];
    return emitter_.buffer_of(id) != nullptr || writer_.graph.at(id).kind == ValueKind::argument;
  }

  // As many channels of the output at a time as leave few over.
  [[nodiscard]] std::int64_t tile_rows(std::int64_t registers) const {
    const std::vector<std::int64_t> order =
        registers == 24 ? std::vector<std::int64_t>{8, 12, 6, 4} : std::vector<std::int64_t>{6, 4};
    std::int64_t best = order[0], most = divided_up(facts_.features, best) * best;
    for (const std::int64_t rows : order)
      if (const std::int64_t own = divided_up(facts_.features, rows) * rows; own < most) {
        best = rows;
        most = own;
      }
    if (facts_.features < best) best = *std::prev(std::ranges::upper_bound(kTileRows, facts_.features));
    return best;
  }

  // Rows (or columns, where there is one row) whose inputs stay in the second cache, and that leave work for all threads.
  void decide_block() {
    const auto& along = one_row() ? facts_.column : facts_.row;
    const auto& choices = one_row() ? kColumnsOfBlock : kRowsOfBlock;
    std::int64_t slots = static_cast<std::int64_t>(facts_.row.slots.size() * facts_.column.slots.size());
    std::int64_t items = facts_.batches * facts_.groups;
    for (const auto& dim : facts_.outer) {
      slots *= static_cast<std::int64_t>(dim.slots.size());
      items *= dim.positions;
    }
    const std::int64_t across = one_row() ? facts_.row.reach + 1 : facts_.column.positions + facts_.column.reach;
    const double room = facts_.channels == 1 ? 0.7 * writer_.machine.l1_bytes : 0.4 * writer_.machine.l2_bytes;
    std::int64_t chosen = choices[0];
    for (const std::int64_t block : choices) {
      const std::int64_t own = std::min(block, along.positions);
      const double bytes = 4.0 * static_cast<double>(facts_.channels * slots * across) * static_cast<double>(own + along.reach);
      const std::int64_t parts = items * divided_up(along.positions, own);
      if (bytes > room || (parts < 2 * writer_.machine.threads && own > 4 * (along.reach + 1))) break;
      chosen = block;
      if (block >= along.positions) break;
    }
    block_ = writer_.knob(one_row() ? "KW_BLOCK_COLUMNS" : "KW_BLOCK_ROWS", chosen, choices);
    const std::int64_t lanes = emitter_.lanes;
    const double flat = static_cast<double>(facts_.column.positions + facts_.column.reach);
    flat_ = !one_row() && flat < static_cast<double>(divided_up(facts_.column.positions, lanes) * lanes);
  }

  // Everything that the text has as numbers, as members of a type of the file: scratch memory is sized by it.
  void declare_constants() {
    std::vector<std::string> offsets;
    std::vector<std::int64_t> begins{0};
    const auto taps = facts_.taps();
    for (const auto& tap : taps) {
      while (static_cast<std::int64_t>(begins.size()) <= tap.phase) begins.push_back(static_cast<std::int64_t>(offsets.size()));
      offsets.push_back(offset_of(tap));
    }
    while (static_cast<std::int64_t>(begins.size()) <= facts_.phases()) begins.push_back(static_cast<std::int64_t>(offsets.size()));
    std::int64_t slots = static_cast<std::int64_t>(facts_.row.slots.size() * facts_.column.slots.size());
    for (const auto& dim : facts_.outer) slots *= static_cast<std::int64_t>(dim.slots.size());
    const auto limited = [](const std::string& knob, std::int64_t most) {
      return fmt::format("{0} < {1} ? {0} : {1}", knob, most);
    };
    std::string text = fmt::format(
        "// A block of a convolution: rows and columns of its outputs, of the padded input, and the taps.\nnamespace {{\nstruct {} "
        "{{\n",
        constants_);
    const auto number = [&](const std::string& name, const std::string& value) {
      text += fmt::format("  static constexpr std::int64_t {} = {};\n", name, value);
    };
    number("rows", one_row() ? "1" : limited(block_, facts_.row.positions));
    number("columns", one_row() ? limited(block_, facts_.column.positions) : fmt::format("{}", facts_.column.positions));
    number("pitch", fmt::format("columns + {}", facts_.column.reach));
    number("slot", fmt::format("(rows + {}) * pitch", facts_.row.reach));
    // Channels a multiple of a kilobyte apart would meet in the same lines of the first cache.
    number("plane", fmt::format("({0} * slot + 15) / 16 * 16 + (({0} * slot + 15) / 16 % 16 == 0 ? 16 : 0)", slots));
    number("line", "rows * pitch + KW_PIXELS * kw_lanes");
    number("padded_floats", fmt::format("{} * plane + pitch + KW_PIXELS * kw_lanes + 64", facts_.channels));
    number("tiles", fmt::format("({} + KW_FEATURES - 1) / KW_FEATURES", facts_.features));
    number("tile_weights", fmt::format("{} * KW_FEATURES", facts_.channels * static_cast<std::int64_t>(taps.size())));
    text +=
        fmt::format("  static constexpr int edge = {0} % KW_FEATURES != 0 ? {0} % KW_FEATURES : KW_FEATURES;\n", facts_.features);
    text += fmt::format("  static constexpr std::int64_t taps[] = {{{}}};\n", fmt::join(offsets, ", "));
    text += fmt::format("  static constexpr std::int64_t phases[] = {{{}}};\n", fmt::join(begins, ", "));
    for (std::size_t d = 0; d < facts_.rank; ++d) {
      std::vector<std::int64_t> at;
      for (const auto& tap : taps) at.push_back(tap.at[d]);
      text += fmt::format("  static constexpr std::int64_t window{}[] = {{{}}};\n", d, fmt::join(at, ", "));
    }
    writer_.declare(text + "};\n}  // namespace");
  }

  // Where the input of a tap is, from that of its output.
  [[nodiscard]] std::string offset_of(const WindowTap& tap) const {
    std::int64_t slot = 0;
    const auto dims = facts_.dims();
    for (std::size_t d = 0; d < dims.size(); ++d)
      slot = slot * static_cast<std::int64_t>(dims[d]->slots.size()) + dims[d]->taps[static_cast<std::size_t>(tap.at[d])].slot;
    const auto& column = facts_.column.taps[static_cast<std::size_t>(tap.at.back())];
    const std::int64_t row =
        facts_.rank > 1 ? facts_.row.taps[static_cast<std::size_t>(tap.at[tap.at.size() - 2])].shift : std::int64_t{0};
    std::vector<std::string> parts;
    if (slot != 0) parts.push_back(slot == 1 ? "slot" : fmt::format("{} * slot", slot));
    if (row != 0) parts.push_back(row == 1 ? "pitch" : fmt::format("{} * pitch", row));
    if (column.shift != 0 || parts.empty()) parts.push_back(fmt::format("{}", column.shift));
    return fmt::format("{}", fmt::join(parts, " + "));
  }

  void take_memory() {
    padded_ = writer_.scratch("padded", "float", constant("padded_floats"), true);
    sums_ = writer_.scratch("sums", "float", fmt::format("{} * KW_FEATURES * {}", facts_.column.up, constant("line")), true);
    if (facts_.column.up > 1)
      together_ = writer_.scratch("together", "float", fmt::format("{} * {} + 64", facts_.column.up, constant("columns")), true);
    const std::string count = fmt::format("{} * {} * {}", facts_.groups, constant("tiles"), constant("tile_weights"));
    if (prepacked_) {
      weights_ = writer_.prepared("weights_packed", count + " + 16",
                                  [&](Emitter& to, const std::string& name) { write_weights(to, name); });
    } else {
      weights_ = writer_.scratch("weights_packed", "float", count);
    }
    convolve_ = emitter_.unique("convolve");
  }

  // Weights in the order of use: by group, tile of features, phase, channel and tap, all features of the tile side by side.
  void write_weights(Emitter& to, const std::string& name) {
    to.open("{");
    LocalNames names(to);
    to.line(names.say(fmt::format("float* $to = {};", name)));
    const VarId group = to.open_loop("group", facts_.groups);
    const VarId first = to.variable("first", facts_.features);
    to.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += KW_FEATURES) {{", to.name(first), facts_.features), {first});
    to.open(names.say(fmt::format("for (std::int64_t $phase = 0; $phase < {}; ++$phase) {{", facts_.phases())));
    const VarId channel = to.open_loop("c", facts_.channels);
    to.open(names.say(fmt::format("for (std::int64_t $t = {0}[$phase]; $t < {0}[$phase + 1]; ++$t) {{", constant("phases"))));
    Index window;
    const auto dims = facts_.dims();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto size = static_cast<std::int64_t>(dims[d]->taps.size());
      window.push_back(size == 1
                           ? Affine(0)
                           : Affine::variable(to.define("k", names.say(fmt::format("{}[$t]", constant(fmt::format("window{}", d)))),
                                                        {0, size - 1})));
    }
    to.open(names.say("for (std::int64_t $r = 0; $r < KW_FEATURES; ++$r, ++$to) {"));
    to.line(names.say("*$to = 0.0f;"));
    to.line(names.say(fmt::format("if ({} + $r >= {}) continue;", to.name(first), facts_.features)));
    const VarId own = to.define("feature", names.say(fmt::format("{} + $r", to.name(first))), {0, facts_.features - 1});
    Index index{Affine::variable(group) * facts_.features + Affine::variable(own), Affine::variable(channel)};
    index.insert(index.end(), window.begin(), window.end());
    to.line(names.say(fmt::format("*$to = {};", to.emit(facts_.weight, index).text)));
    for (int i = 0; i < 7; ++i) to.close();
  }

  // The function of one block: all features of a group for some rows of an image.
  void write_block() {
    std::vector<VarId> variables;
    const auto parameter = [&](const std::string& hint, std::int64_t extent) {
      if (extent == 1) return Affine(0);
      variables.push_back(emitter_.variable(hint, extent));
      return Affine::variable(variables.back());
    };
    batch_ = parameter("item", facts_.batches);
    group_ = parameter("group", facts_.groups);
    for (const auto& dim : facts_.outer) outer_.push_back(parameter("depth", dim.positions));
    first_row_ = parameter("first_row", facts_.row.positions);
    first_column_ = one_row() ? parameter("first_column", facts_.column.positions) : Affine(0);
    std::vector<std::string> declared;
    for (const VarId var : variables) declared.push_back("std::int64_t " + emitter_.name(var));
    open(fmt::format("const auto {} = [&]({}) {{", convolve_, fmt::join(declared, ", ")), variables);
    line(fmt::format("float* const $padded = {};\nfloat* const $sums = {};", padded_, sums_));
    const auto here = [&](const char* name, const Affine& first, std::int64_t positions) {
      if (first.is_constant()) {
        line(fmt::format("constexpr std::int64_t ${0} = {1}::{0};", name, constants_));
      } else {
        line(fmt::format("const std::int64_t ${0} = kw_least({1}::{0}, {2} - {3});", name, constants_, positions,
                         emitter_.text(first)));
      }
    };
    here("rows", first_row_, facts_.row.positions);
    here("columns", first_column_, facts_.column.positions);
    write_copy();
    write_tiles();
    emitter_.close("};");
  }

  // --- the copy ---

  void write_copy() {
    const VarId channel = emitter_.open_loop("c", facts_.channels);
    line(fmt::format("float* $slot = $padded + {} * {};", emitter_.name(channel), constant("plane")));
    int opened = 1;
    std::vector<std::string> inside;
    std::vector<Affine> positions;
    for (std::size_t d = 0; d < facts_.outer.size(); ++d) {
      const auto& dim = facts_.outer[d];
      positions.push_back(outer_[d] * dim.stride + open_slots(dim, opened));
      if (const std::string check = check_of(positions.back(), dim); !check.empty()) inside.push_back(check);
    }
    const Affine row_slot = open_slots(facts_.row, opened);
    const Affine column_slot = open_slots(facts_.column, opened);
    open(fmt::format("for (std::int64_t $y = 0; $y < $rows + {}; ++$y) {{", facts_.row.reach));
    ++opened;
    line(fmt::format("float* const $to = $slot + $y * {};\nconst std::int64_t $width = $columns + {};", constant("pitch"),
                     facts_.column.reach));
    line(fmt::format("const std::int64_t $at_row = ({} + $y) * {} + {};", emitter_.text(first_row_), facts_.row.stride,
                     emitter_.text(row_slot)));
    inside.push_back(names_.say(fmt::format("$at_row >= 0 && $at_row < {}", facts_.row.inputs)));
    open(fmt::format("if ({}) {{", fmt::join(inside, " && ")));
    Index index{batch_, group_ * facts_.channels + Affine::variable(channel)};
    for (std::size_t d = 0; d < positions.size(); ++d)
      index.push_back(positions[d].is_constant()
                          ? positions[d]
                          : Affine::variable(emitter_.define("at", emitter_.text(positions[d]), {0, facts_.outer[d].inputs - 1})));
    if (facts_.rank > 1)
      index.push_back(Affine::variable(emitter_.define("at", names_.say("$at_row"), {0, facts_.row.inputs - 1})));
    write_copied_row(index, column_slot);
    emitter_.close();
    line("else for (std::int64_t $x = 0; $x < $width; ++$x) $to[$x] = 0.0f;");
    emitter_.close();
    line(fmt::format("$slot += {};", constant("slot")));
    for (int i = 1; i < opened; ++i) emitter_.close();
  }

  // A loop over the slots of a dimension, where there are several: the position that is first in each.
  Affine open_slots(const ConvolutionDim& dim, int& opened) {
    if (dim.slots.size() == 1) return Affine(dim.slots[0]);
    const std::string table = emitter_.unique("slots");
    writer_.declare(fmt::format("static constexpr std::int64_t {}[] = {{{}}};", table, fmt::join(dim.slots, ", ")));
    const VarId number = emitter_.open_loop("s", static_cast<std::int64_t>(dim.slots.size()));
    ++opened;
    const auto [low, high] = std::ranges::minmax(dim.slots);
    return Affine::variable(emitter_.define("first", fmt::format("{}[{}]", table, emitter_.name(number)), {low, high}));
  }

  std::string check_of(const Affine& position, const ConvolutionDim& dim) {
    const auto reach = std::ranges::minmax(dim.slots);
    if (reach.min >= 0 && (dim.positions - 1) * dim.stride + reach.max < dim.inputs) return "";
    return fmt::format("{0} >= 0 && {0} < {1}", "(" + emitter_.text(position) + ")", dim.inputs);
  }

  // Columns of which the input is there are [$from, $until); zeros surround them.
  void write_copied_row(const Index& row, const Affine& slot) {
    const auto& dim = facts_.column;
    const std::string first = emitter_.text(first_column_);
    if (slot.is_constant()) {
      const std::int64_t begin = std::max<std::int64_t>(0, divided_up(std::max<std::int64_t>(0, -slot.constant), dim.stride));
      const std::int64_t end = std::max(begin, divided_down(dim.inputs - 1 - slot.constant, dim.stride) + 1);
      line(fmt::format("const std::int64_t $begin = {}, $end = {};", begin, end));
    } else {
      const std::string text = emitter_.text(slot);
      line(fmt::format("const std::int64_t $begin = ({1} - 1 - kw_least({0}, 0)) / {1};", text, dim.stride));
      line(fmt::format("const std::int64_t $end = kw_most($begin, ({2} + {1} - 1 - {0}) / {1});", text, dim.stride, dim.inputs));
    }
    line(fmt::format("const std::int64_t $from = kw_least(kw_most($begin - {}, 0), $width);", first));
    line(fmt::format("const std::int64_t $until = kw_most($from, kw_least($end - {}, $width));", first));
    line("for (std::int64_t $x = 0; $x < $from; ++$x) $to[$x] = 0.0f;");
    write_columns(row, slot);
    line("for (std::int64_t $x = $until; $x < $width; ++$x) $to[$x] = 0.0f;");
  }

  // With a stride of 1 the loops are over the input's own columns: what is known of them there is not lost.
  void write_columns(const Index& row, const Affine& slot) {
    const auto& dim = facts_.column;
    const bool own = dim.stride == 1;
    line(fmt::format("const std::int64_t $moved = {};", own ? emitter_.text(first_column_ + slot) : "0"));
    const std::int64_t extent = own ? dim.inputs : dim.positions + dim.reach;
    const std::string from = names_.say("$from + $moved"), until = names_.say("$until + $moved");
    const auto element = [&](VarId x) {
      Index index = row;
      index.push_back(own ? Affine::variable(x) : (first_column_ + Affine::variable(x)) * dim.stride + slot);
      const std::string strided = emitter_.is_vector(x) && !own ? strided_load(writer_, facts_.input, index, x) : "";
      return strided.empty() ? emitter_.emit(facts_.input, index) : Expr{strided, DType::f32, true};
    };
    if (!vectors_) {
      const VarId x = open_part(emitter_, "x", extent, from, until, false);
      line(fmt::format("$to[{} - $moved] = {};", emitter_.name(x), element(x).text));
      return emitter_.close();
    }
    const VarId x = open_part(emitter_, "x", extent, from, until, true);
    line(fmt::format("kw_store($to + {} - $moved, {});", emitter_.name(x), emitter_.as_vector(element(x)).text));
    emitter_.close();
    const std::string rest = emitter_.unique("rest");
    line(fmt::format("const std::int64_t {} = $until - ($until - $from) % kw_lanes + $moved;", rest));
    const auto masked = [&] {
      open(fmt::format("if (const int $left = int({} - {}); $left > 0) {{", until, rest));
      emitter_.part_of = emitter_.define("x", rest, {0, extent - 1}, true);
      emitter_.part = names_.say("$left");
      line(fmt::format("kw_store($to + {} - $moved, {});", rest, emitter_.as_vector(element(emitter_.part_of)).text));
      emitter_.close();
    };
    const bool stands = own && writer_.wants("masked_tails") && writer_.attempt(masked);
    emitter_.part_of = -1;
    emitter_.part.clear();
    if (stands) {
      writer_.use("masked_tails");
      return;
    }
    const VarId last = open_part(emitter_, "x", extent, rest, until, false);
    line(fmt::format("$to[{} - $moved] = {};", emitter_.name(last), element(last).text));
    emitter_.close();
  }

  // --- the tiles ---

  void write_tiles() {
    const VarId feature = emitter_.variable("feature", facts_.features);
    const std::string f = emitter_.name(feature);
    open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += KW_FEATURES) {{", f, facts_.features), {feature});
    const std::string group = group_.is_constant() ? "" : fmt::format("{} * {} + ", emitter_.text(group_), constant("tiles"));
    line(
        fmt::format("const float* const $weights = {} + ({}{} / KW_FEATURES) * {};", weights_, group, f, constant("tile_weights")));
    int opened = 1;
    std::vector<Affine> phases;
    std::string mixed = "0";
    for (const auto* dim : facts_.dims()) {
      if (dim == &facts_.column) break;
      const bool several = dim->up > 1;
      phases.push_back(several ? Affine::variable(emitter_.open_loop("phase", dim->up)) : Affine(0));
      opened += several ? 1 : 0;
      if (several)
        mixed = mixed == "0" ? emitter_.text(phases.back())
                             : fmt::format("({} * {} + {})", mixed, dim->up, emitter_.text(phases.back()));
    }
    write_sums(f, mixed);
    write_finish(feature, phases);
    for (int i = 0; i < opened; ++i) emitter_.close();
  }

  void write_sums(const std::string& feature, const std::string& mixed) {
    const std::int64_t up = facts_.column.up;
    open(fmt::format("for (std::int64_t $side = 0; $side < {}; ++$side) {{", up));
    line(fmt::format("const std::int64_t $begin = {0}[{1}{2}], $count = {0}[{1}{2} + 1] - $begin;", constant("phases"),
                     mixed == "0" ? "" : fmt::format("{} * {} + ", mixed, up), "$side"));
    line(fmt::format("float* const $into = $sums + $side * KW_FEATURES * {};", constant("line")));
    const std::string weights = fmt::format("$weights + $begin * {}", facts_.channels);
    if (!flat_) open("for (std::int64_t $y = 0; $y < $rows; ++$y) {");
    const std::string moved = flat_ ? "" : fmt::format(" + $y * {}", constant("pitch"));
    const std::string pixels = flat_ ? fmt::format("($rows - 1) * {} + $columns", constant("pitch")) : "$columns";
    const auto taps = static_cast<std::int64_t>(facts_.taps().size()) / facts_.phases();
    const std::int64_t chain = std::max<std::int64_t>(1, kLongestChain / std::max<std::int64_t>(1, taps));
    const auto call = [&](const std::string& rows) {
      return fmt::format(
          "kw_convolution_line<{}, KW_PIXELS, KW_FEATURES, {}>({} * KW_FEATURES, $padded{}, {} + $begin, $count, {}, {}, "
          "$into{}, {}, {});",
          rows, chain, weights, moved, constant("taps"), facts_.channels, constant("plane"), moved, constant("line"), pixels);
    };
    line(fmt::format("if ({} + KW_FEATURES <= {}) {}", feature, facts_.features, call("KW_FEATURES")));
    line("else " + call(constant("edge")));
    if (!flat_) emitter_.close();
    emitter_.close();
  }

  // What becomes of the sums: everything that follows the convolution, and the stores.
  void write_finish(VarId first_feature, const std::vector<Affine>& phases) {
    const std::int64_t up = facts_.column.up;
    open(fmt::format("for (std::int64_t $r = 0; $r < kw_least(KW_FEATURES, {} - {}); ++$r) {{", facts_.features,
                     emitter_.name(first_feature)));
    const VarId feature =
        emitter_.define("channel", names_.say(fmt::format("{} + $r", emitter_.name(first_feature))), {0, facts_.features - 1});
    Index index{batch_, group_ * facts_.features + Affine::variable(feature)};
    for (std::size_t d = 0; d < facts_.outer.size(); ++d) index.push_back(output(facts_.outer[d], outer_[d], phases[d]));
    open("for (std::int64_t $y = 0; $y < $rows; ++$y) {");
    if (facts_.rank > 1) {
      const VarId y = emitter_.define("y", names_.say("$y"), {0, facts_.row.positions - 1});
      index.push_back(output(facts_.row, first_row_ + Affine::variable(y), phases.back()));
    }
    line(fmt::format("const float* $line = $sums + $r * {} + $y * {};", constant("line"), constant("pitch")));
    if (up > 1) {
      emitter_.need("interleave");
      line(fmt::format("kw_interleave<{}>($line, KW_FEATURES * {}, $columns, {});\n$line = {};", up, constant("line"), together_,
                       together_));
    }
    write_finished_row(index);
    emitter_.close();
    emitter_.close();
  }

  // An output of a position and phase; those past the end are left out.
  Affine output(const ConvolutionDim& dim, const Affine& position, const Affine& phase) {
    const Affine at = position * dim.up + phase;
    if (dim.up == 1) return at;
    const VarId var = emitter_.define("at", emitter_.text(at), {0, dim.outputs - 1});
    if (dim.outputs % dim.up != 0) line(fmt::format("if ({} >= {}) continue;", emitter_.name(var), dim.outputs));
    return Affine::variable(var);
  }

  void write_finished_row(const Index& row) {
    const auto& dim = facts_.column;
    const auto element = [&](VarId x) {
      Index index = row;
      index.push_back(first_column_ * dim.up + Affine::variable(x));
      const bool vector = emitter_.is_vector(x);
      if (vector) emitter_.need("load");
      const std::string text =
          names_.say(fmt::format(fmt::runtime(vector ? "kw_load($line + {})" : "$line[{}]"), emitter_.name(x)));
      store_roots(writer_, stage_, index, {text, writer_.graph.dtype(facts_.value), vector});
    };
    if (first_column_.is_constant()) {
      if (vectors_) return write_vector_loop(writer_, dim.outputs, "0", fmt::format("{}", dim.outputs), element);
      element(open_part(emitter_, "x", dim.outputs, "0", fmt::format("{}", dim.outputs), false));
      return emitter_.close();
    }
    line(fmt::format("const std::int64_t $end = kw_least($columns * {0}, {1} - {2} * {0});", dim.up, dim.outputs,
                     emitter_.text(first_column_)));
    std::string rest = "0";
    if (vectors_) {
      element(open_part(emitter_, "x", dim.outputs, "0", names_.say("$end"), true));
      emitter_.close();
      rest = names_.say("$end - $end % kw_lanes");
    }
    element(open_part(emitter_, "x", dim.outputs, rest, names_.say("$end"), false));
    emitter_.close();
  }

  // --- who does what ---

  void write_calls() {
    struct Loop {
      std::string name;
      std::int64_t extent = 1;
      std::string step;
    };
    std::vector<Loop> loops;
    const auto loop = [&](const char* hint, std::int64_t extent, const std::string& step) {
      if (extent > 1) loops.push_back({emitter_.unique(hint), extent, step});
    };
    loop("n", facts_.batches, "");
    loop("g", facts_.groups, "");
    for (const auto& dim : facts_.outer) loop("d", dim.positions, "");
    loop("row", facts_.row.positions, constant("rows"));
    if (one_row()) loop("column", facts_.column.positions, constant("columns"));
    const bool worth = facts_.multiplications() >= kWorthSharing && !loops.empty();
    if (worth && (writer_.use("parallel_outer"))) {
      const bool dynamic = writer_.use("balanced_schedule");
      line(fmt::format("#pragma omp parallel for collapse({}) schedule({})", loops.size(), dynamic ? "dynamic" : "static"));
    }
    std::vector<std::string> arguments;
    for (const auto& each : loops) {
      emitter_.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {2}) {{", each.name, each.extent,
                                each.step.empty() ? "++" + each.name : fmt::format("{} += {}", each.name, each.step)));
      arguments.push_back(each.name);
    }
    emitter_.line(fmt::format("{}({});", convolve_, fmt::join(arguments, ", ")));
    for (std::size_t i = 0; i < loops.size(); ++i) emitter_.close();
  }

  StageWriter& writer_;
  Emitter& emitter_;
  const Stage& stage_;
  const ConvolutionFacts& facts_;
  LocalNames names_;
  bool vectors_;

  bool prepacked_ = false;
  bool flat_ = false;  // rows of a block are one line, with what lies between them
  std::string block_;
  std::string constants_;
  std::string padded_;
  std::string sums_;
  std::string together_;
  std::string weights_;
  std::string convolve_;
  Affine batch_;
  Affine group_;
  std::vector<Affine> outer_;
  Affine first_row_;
  Affine first_column_;
};

}  // namespace

void write_tiled_convolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors) {
  TiledConvolution(writer, stage, facts, vectors).write();
}

}  // namespace kw
