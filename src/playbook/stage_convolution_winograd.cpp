// Convolutions with 3 x 3 taps and no stride by Winograd's algorithm, from blocks of rows: every channel's tiles of 4 x 4 inputs
// are transformed once, 16 small products sum over channels, and the results are tiles of 2 x 2 outputs. Taps of further dimensions
// count as channels. Where one input is far larger than the others, its roundings would reach outputs that hardly depend on it:
// such blocks are computed as tiles without a transform.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/convolution_block.h"

namespace kw {
namespace {

constexpr int kWidestRange = 64;             // of a block's largest input to its mean
constexpr std::int64_t kFewestChannels = 8;  // on either side: below that the transforms cost more than they save

const std::vector<std::int64_t> kWinogradFeatures{4, 6, 8, 12};
const std::vector<std::int64_t> kWinogradVectors{1, 2, 3, 4};
const std::vector<std::int64_t> kWinogradRows{2, 4, 6, 8, 12, 16, 32, 64};

bool has_three_neighbours(const ConvolutionDim& dim) {
  if (dim.taps.size() != 3 || dim.stride != 1 || dim.up != 1 || dim.slots.size() != 1 || dim.reach != 2) return false;
  return dim.taps[1].shift == 1 && dim.taps[0].shift != dim.taps[2].shift;
}

class WinogradConvolution final : public ConvolutionBlock {
 public:
  WinogradConvolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors)
      : ConvolutionBlock(writer, stage, facts, vectors), slots_(facts.slots()), depth_(facts.channels * slots_) {
    column_.positions = (facts.column.positions + 1) / 2 * 2;
  }

  void write() {
    decide();
    declare_constants();
    take_memory();
    emitter_.open("{");
    direct_ = write_tiled_block(writer_, stage_, facts_, vectors_, shares_);
    write_block();
    write_calls();
    emitter_.close();
  }

 private:
  void decide() {
    for (const char* strategy : {"explicit_vectors", "convolution_tile", "winograd", "prepack_weights"}) writer_.use(strategy);
    for (const char* piece :
         {"winograd_input", "winograd_products", "winograd_output", "winograd_weights", "winograd_range", "least", "most"})
      emitter_.need(piece);
    const bool many = writer_.machine.vector_bytes == 64;
    const std::int64_t rows = std::max<std::int64_t>(4, tile_rows(many ? 24 : 12));
    writer_.knob("KW_FEATURES", rows, kWinogradFeatures);
    writer_.knob("KW_PIXELS", std::clamp<std::int64_t>((many ? 24 : 12) / rows, 1, 4), kWinogradVectors);
    writer_.require(fmt::format("KW_FEATURES * KW_PIXELS <= {}", many ? 28 : 14));
    claim_fusion();
    const std::int64_t own = block_rows();
    block_ = writer_.knob("KW_BLOCK_ROWS", own, kWinogradRows);
    shares_ = shares_of_features(facts_.images() * ((facts_.row.positions + own - 1) / own), rows);
    constants_ = emitter_.unique("convolution");
  }

  // Rows whose transformed tiles fill vectors and stay in the second cache, and that leave work for all threads.
  [[nodiscard]] std::int64_t block_rows() const {
    std::int64_t chosen = kWinogradRows[0];
    for (const std::int64_t rows : kWinogradRows) {
      const std::int64_t tiles = (rows / 2) * (column_.positions / 2);
      const bool too_few = (chosen / 2) * (column_.positions / 2) < 2 * emitter_.lanes;  // threads then share features
      const double bytes = 4.0 * 16 * static_cast<double>(depth_ * tiles);
      const std::int64_t parts = facts_.images() * ((facts_.row.positions + rows - 1) / rows);
      const bool few = tiles < 3 * emitter_.lanes;
      const bool waiting = parts < 2 * writer_.machine.threads && !too_few;
      if (rows > chosen && ((!few && bytes > 0.6 * writer_.machine.l2_bytes) || waiting)) break;
      chosen = rows;
      if (rows >= facts_.row.positions) break;
    }
    return chosen;
  }

  void declare_constants() {
    std::string text = fmt::format(
        "// A block of a convolution: rows and columns of its outputs, tiles of 2 x 2 of them, and how everything lies in "
        "memory.\nnamespace {{\nstruct {} {{\n",
        constants_);
    const auto number = [&](const std::string& name, const std::string& value) {
      text += fmt::format("  static constexpr std::int64_t {} = {};\n", name, value);
    };
    number("rows", fmt::format("{0} < {1} ? {0} : {1}", block_, facts_.row.positions));
    number("columns", fmt::format("{}", facts_.column.positions));
    number("tile_rows", "(rows + 1) / 2");
    number("tile_columns", "(columns + 1) / 2");
    number("pitch", "2 * tile_columns + 2");
    number("slot", "(2 * tile_rows + 2) * pitch");
    number("padded_floats", fmt::format("{} * slot + 4 * kw_lanes + 64", slots_));
    // Channels a multiple of a kilobyte apart would meet in the same lines of the first cache.
    number("whole", "(tile_rows * tile_columns + kw_lanes + 15) / 16 * 16");
    number("apart", "whole % 256 == 0 ? whole + 16 : whole");
    number("depth", fmt::format("{}", depth_));
    number("sums_pitch", "(tile_columns + kw_lanes - 1) / kw_lanes * kw_lanes * 2");
    number("line", "2 * tile_rows * sums_pitch");
    number("tiles", fmt::format("({} + KW_FEATURES - 1) / KW_FEATURES", facts_.features));
    number("tile_weights", "16 * depth * KW_FEATURES");
    text +=
        fmt::format("  static constexpr int edge = {0} % KW_FEATURES != 0 ? {0} % KW_FEATURES : KW_FEATURES;\n", facts_.features);
    writer_.declare(text + "};\n}  // namespace");
  }

  void take_memory() {
    padded_ = writer_.scratch("padded", "float", constant("padded_floats"), true);
    transformed_ =
        writer_.scratch("transformed", "float", fmt::format("16 * {} * {} + 64", constant("depth"), constant("apart")), true);
    products_ = writer_.scratch("products", "float", fmt::format("16 * KW_FEATURES * {} + 64", constant("apart")), true);
    sums_ = writer_.scratch("sums", "float", fmt::format("KW_FEATURES * {} + 64", constant("line")), true);
    weights_ = writer_.prepared("weights_winograd",
                                fmt::format("{} * {} * {} + 16", facts_.groups, constant("tiles"), constant("tile_weights")),
                                [&](Emitter& to, const std::string& name) { write_weights(to, name); });
    convolve_ = emitter_.unique("convolve");
  }

  // By group, tile of features, which of the 16, channel and slot; all features of the tile side by side.
  void write_weights(Emitter& to, const std::string& name) {
    to.open("{");
    LocalNames names(to);
    const VarId group = to.open_loop("group", facts_.groups);
    const VarId feature = to.open_loop("feature", facts_.features);
    const VarId channel = to.open_loop("c", facts_.channels);
    std::vector<VarId> further;
    std::string slot = to.name(channel);
    Index index{Affine::variable(group) * facts_.features + Affine::variable(feature), Affine::variable(channel)};
    for (const auto& dim : facts_.outer) {
      std::vector<std::int64_t> slots;
      for (const auto& tap : dim.taps) slots.push_back(tap.slot);
      const VarId tap = to.open_loop("k", static_cast<std::int64_t>(dim.taps.size()));
      const std::string table = to.unique("slot_of");
      to.line(fmt::format("static constexpr std::int64_t {}[] = {{{}}};", table, fmt::join(slots, ", ")));
      slot = fmt::format("({} * {} + {}[{}])", slot, dim.slots.size(), table, to.name(tap));
      index.push_back(Affine::variable(tap));
      further.push_back(tap);
    }
    to.line(names.say("double $window[9];"));
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) {
        Index at = index;
        at.push_back(Affine(static_cast<std::int64_t>(r)));
        at.push_back(Affine(static_cast<std::int64_t>(c)));
        to.line(names.say(fmt::format("$window[{}] = {};", facts_.row.taps[r].shift * 3 + facts_.column.taps[c].shift,
                                      to.emit(facts_.weight, at).text)));
      }
    const std::string first = fmt::format("({} * {} + {} / KW_FEATURES) * {}", to.name(group), constant("tiles"), to.name(feature),
                                          constant("tile_weights"));
    to.line(names.say(fmt::format("kw_winograd_weights($window, {} + {} + {} * KW_FEATURES + {} % KW_FEATURES, {} * KW_FEATURES);",
                                  name, first, slot, to.name(feature), constant("depth"))));
    for (std::size_t i = 0; i < 4 + further.size(); ++i) to.close();
  }

  void write_body() override {
    line("const std::int64_t $tile_rows = ($rows + 1) / 2, $copied_rows = 2 * $tile_rows + 2;");
    line(fmt::format("float* const $transformed = {};\nfloat* const $products = {};\nfloat* const $sums = {};", transformed_,
                     products_, sums_));
    line("kw_winograd_range $range;");
    write_copy();
    line(fmt::format("if ($range.is_wide({}, {} * {} * $copied_rows * {})) return {}({});", kWidestRange, facts_.channels, slots_,
                     constant("pitch"), direct_, fmt::join(arguments_, ", ")));
    write_tiles();
  }

  std::string copy_address(VarId) override { return "$padded"; }

  // One plane after the other while it is in the first cache.
  void write_copied(VarId channel) override {
    const std::string c = emitter_.name(channel);
    const auto transform = [&](const std::string& plane, const std::string& number) {
      line(fmt::format("kw_winograd_input<{}, {} * {}>({}, $tile_rows, {}, $transformed + {} * {});", constant("pitch"),
                       constant("depth"), constant("apart"), plane, constant("tile_columns"), number, constant("apart")));
    };
    if (slots_ == 1) {
      line(fmt::format("$range.look($padded, $copied_rows * {});", constant("pitch")));
      return transform("$padded", c);
    }
    open(fmt::format("for (std::int64_t $s = 0; $s < {}; ++$s) {{", slots_));
    line(fmt::format("$range.look($padded + $s * {}, $copied_rows * {});", constant("slot"), constant("pitch")));
    transform(fmt::format("$padded + $s * {}", constant("slot")), fmt::format("({} * {} + $s)", c, slots_));
    emitter_.close();
  }

  void write_tiles() {
    const VarId feature = open_tiles();
    const std::string f = emitter_.name(feature);
    open("for (std::int64_t $i = 0; $i < 16; ++$i) {");
    const auto call = [&](const std::string& rows) {
      return fmt::format(
          "kw_winograd_products<{0}, KW_PIXELS, KW_FEATURES, {1}, {1}, {2}>($weights + $i * ({3} * KW_FEATURES), $transformed + "
          "$i * ({3} * {1}), {3}, $tile_rows * {4}, $products + $i * (KW_FEATURES * {1}));",
          rows, constant("apart"), kLongestChain, constant("depth"), constant("tile_columns"));
    };
    line(fmt::format("if ({} + KW_FEATURES <= {}) {}", f, facts_.features, call("KW_FEATURES")));
    line("else " + call(constant("edge")));
    emitter_.close();
    open(fmt::format("for (std::int64_t $r = 0; $r < kw_least(KW_FEATURES, {} - {}); ++$r) {{", facts_.features, f));
    line(fmt::format("kw_winograd_output<KW_FEATURES * {0}, {1}>($products + $r * {0}, $tile_rows, {2}, $sums + $r * {3});",
                     constant("apart"), constant("sums_pitch"), constant("tile_columns"), constant("line")));
    emitter_.close();
    write_finish(feature, std::vector<Affine>(facts_.rank, Affine(0)),
                 fmt::format("$sums + $r * {} + $y * {}", constant("line"), constant("sums_pitch")));
    emitter_.close();
  }

  std::int64_t slots_;  // of a channel: planes of further dimensions
  std::int64_t depth_;  // what is summed over
  std::string direct_;  // the function of a block without a transform
  std::string block_;
  std::string transformed_;
  std::string products_;
  std::string sums_;
};

}  // namespace

bool suits_winograd(const StageWriter& writer, const ConvolutionFacts& facts) {
  if (facts.rank < 2 || !has_three_neighbours(facts.row) || !has_three_neighbours(facts.column)) return false;
  for (const auto& dim : facts.outer)
    if (dim.up != 1 || dim.slots.size() != dim.taps.size()) return false;
  // Its weights are 16 for 9: tiles of an image that do not fill a vector are not worth reading them.
  if ((facts.row.positions + 1) / 2 * ((facts.column.positions + 1) / 2) < writer.emitter.lanes) return false;
  return facts.row.positions > 1 && facts.column.positions > 1 && facts.channels * facts.slots() >= kFewestChannels &&
         facts.features >= kFewestChannels && convolution_weights_known(writer, facts);
}

void write_winograd_convolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors) {
  WinogradConvolution(writer, stage, facts, vectors).write();
}

}  // namespace kw
