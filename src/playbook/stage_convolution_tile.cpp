// Convolutions in tiles of channels by pixels, from a copy of a block of the input that has the padding in it: there every tap of
// every output is a fixed offset away, whatever stride, dilation and padding are, and pixels of several rows are one line.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/convolution_block.h"
#include "playbook/narrow_weights.h"

namespace kw {
namespace {

const std::vector<std::int64_t> kTileRows{1, 2, 3, 4, 6, 8, 12};
const std::vector<std::int64_t> kTileVectors{1, 2, 3, 4, 6, 8};
const std::vector<std::int64_t> kRowsOfBlock{1, 2, 4, 8, 16, 32, 64, 128};
const std::vector<std::int64_t> kRowsOfPatches{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64};
const std::vector<std::int64_t> kColumnsOfBlock{128, 256, 512, 1024, 2048, 4096, 8192};

class TiledConvolution final : public ConvolutionBlock {
 public:
  using ConvolutionBlock::ConvolutionBlock;

  void write() {
    emitter_.open("{");
    write_function();
    write_calls();
    emitter_.close();
  }

  // `shares`: of the features, where others decide; 0: as many as it takes.
  std::string write_function(std::int64_t shares = 0) {
    decide();
    shares_ = shares > 0 ? shares : shares_of_features(blocks_, rows_);
    declare_constants();
    take_memory();
    if (!prepacked_ && !narrow_) write_weights(emitter_, weights_);
    write_block();
    return convolve_;
  }

 private:
  // Which strategies take effect, and the numbers that the text is made with.
  void decide() {
    writer_.use("explicit_vectors");
    writer_.use("convolution_tile");
    patches_ = suits_patches() && writer_.use("im2col_pack");
    for (const char* piece : {"least", "most"}) emitter_.need(piece);
    for (const char* piece : patches_ ? std::vector{"convolution_panel", "convolution_patches"} : std::vector{"convolution_line"})
      emitter_.need(piece);
    const std::int64_t registers = writer_.machine.vector_bytes == 64 ? 24 : 12;
    const std::int64_t rows = *std::prev(std::ranges::upper_bound(kTileRows, std::min(tile_rows(registers), facts_.features)));
    std::int64_t most_vectors = std::clamp<std::int64_t>(registers / rows, 1, 8);
    if (patches_)  // no more of a panel than an image has
      most_vectors = std::min(most_vectors, divided_up(facts_.row.positions * facts_.column.positions, emitter_.lanes));
    const std::int64_t vectors = *std::prev(std::ranges::upper_bound(kTileVectors, most_vectors));
    rows_ = rows;
    writer_.knob("KW_FEATURES", rows, kTileRows);
    writer_.knob("KW_PIXELS", vectors, kTileVectors);
    writer_.require(fmt::format("KW_FEATURES * KW_PIXELS <= {}", registers == 24 ? 28 : 14));
    prepacked_ = convolution_weights_known(writer_, facts_) && writer_.use("prepack_weights");
    narrow_ = writer_.plan.from_parameters.contains(facts_.weight) && lies_narrow(writer_.graph, facts_.weight);
    claim_fusion();
    decide_parts(patches_ ? vectors * emitter_.lanes : 1);
    if (patches_)
      decide_patches(vectors);
    else
      decide_block();
    constants_ = emitter_.unique("convolution");
  }

  // Rows (or columns, where there is one row) whose inputs stay in the second cache, and that leave work for all threads.
  void decide_block() {
    const auto& along = one_row() ? facts_.column : facts_.row;
    const auto& choices = one_row() ? kColumnsOfBlock : kRowsOfBlock;
    const std::int64_t across = one_row() ? facts_.row.reach + 1 : facts_.column.positions + facts_.column.reach;
    const double room = facts_.channels == 1 ? 0.7 * writer_.machine.l1_bytes : 0.4 * writer_.machine.l2_bytes;
    std::int64_t chosen = choices[0];
    for (const std::int64_t block : choices) {
      const std::int64_t own = std::min(block, along.positions);
      const double bytes =
          4.0 * static_cast<double>(facts_.channels * facts_.slots() * across) * static_cast<double>(own + along.reach);
      const std::int64_t parts = facts_.images() * divided_up(along.positions, own);
      if (bytes > room || (parts < 2 * writer_.machine.threads && own > 4 * (along.reach + 1))) break;
      chosen = block;
      if (block >= along.positions) break;
    }
    take_block(along, chosen, choices);
    const std::int64_t lanes = emitter_.lanes;
    const double flat = static_cast<double>(facts_.column.positions + facts_.column.reach);
    flat_ = !one_row() && flat < static_cast<double>(divided_up(facts_.column.positions, lanes) * lanes);
  }

  void take_block(const ConvolutionDim& along, std::int64_t chosen, const std::vector<std::int64_t>& choices) {
    block_ = writer_.knob(one_row() ? "KW_BLOCK_COLUMNS" : "KW_BLOCK_ROWS", chosen, choices);
    blocks_ = facts_.images() * divided_up(along.positions, chosen);
  }

  // As the panels of a product, inputs are copied once more for every tap: worth it where many features read them, and where sums
  // are long, or lines of pixels would have much that is no output.
  [[nodiscard]] bool suits_patches() const {
    constexpr std::int64_t kFewestFeatures = 24;
    constexpr std::int64_t kLongSums = 64;
    if (facts_.phases() != 1 || facts_.features < kFewestFeatures) return false;
    const std::int64_t outputs = facts_.column.positions;
    const std::int64_t line =
        std::min(one_row() ? outputs : outputs + facts_.column.reach, divided_up(outputs, emitter_.lanes) * emitter_.lanes);
    return facts_.channels * window_taps() >= kLongSums || 5 * line > 6 * outputs;
  }

  [[nodiscard]] std::int64_t window_taps() const { return static_cast<std::int64_t>(facts_.taps().size()); }

  // Positions of the window that are summed together: all of it, or a plane or a row of it, which is left out for outputs that
  // meet nothing but padding there.
  [[nodiscard]] std::int64_t part_taps() const { return taps_behind(parted_); }

  // Positions of the window that have the same place in the first so many dimensions.
  [[nodiscard]] std::int64_t taps_behind(std::size_t dims) const {
    std::int64_t count = 1;
    const auto all = facts_.dims();
    for (std::size_t d = dims; d < all.size(); ++d) count *= static_cast<std::int64_t>(all[d]->taps.size());
    return count;
  }

  // By how many dimensions the window is parted: what is saved of the padding, less the loads and stores of sums for every part.
  // `panel`: pixels that are summed at a time, whether all of them meet padding or not.
  void decide_parts(std::int64_t panel) {
    constexpr double kLoadsAndStores = 4;  // of a sum, in multiplications
    if (facts_.phases() != 1) return;
    const auto dims = facts_.dims();
    double least = 0, inside = 1;
    for (std::size_t parted = 0; parted < dims.size(); ++parted) {
      if (parted > 0) {
        const auto& dim = *dims[parted - 1];
        const std::int64_t whole_rows = panel / facts_.column.positions;
        const double more = &dim == &facts_.row ? 0.5 * static_cast<double>(whole_rows) : 0;
        double share = 0;
        for (const auto& tap : dim.taps) {
          const auto [begin, end] = dim.inside(tap);
          const double rows = end > begin ? static_cast<double>(end - begin) + more : 0;
          share += std::min(1.0, rows / static_cast<double>(dim.positions)) / static_cast<double>(dim.taps.size());
        }
        inside *= share;
      }
      const std::int64_t steps = std::min(facts_.channels * taps_behind(parted), kLongestChain);
      const double cost = inside * (1 + kLoadsAndStores / static_cast<double>(steps));
      if (parted > 0 && cost >= 0.97 * least) continue;
      least = cost;
      parted_ = parted;
    }
  }

  // Rows that fill whole panels, whose inputs stay in the second cache together with the panels.
  void decide_patches(std::int64_t vectors) {
    chain_ = std::clamp<std::int64_t>(kLongestChain / part_taps(), 1, facts_.channels);
    const std::int64_t width = vectors * emitter_.lanes;
    const double l2 = writer_.machine.l2_bytes;
    const std::int64_t steps = chain_ * part_taps();
    const auto most =
        std::max<std::int64_t>(2 * width, static_cast<std::int64_t>(0.25 * l2 / 4) / std::max<std::int64_t>(steps, 64));
    group_pixels_ = most / width * width;
    const auto& along = one_row() ? facts_.column : facts_.row;
    const auto& choices = one_row() ? kColumnsOfBlock : kRowsOfPatches;
    const std::int64_t across = one_row() ? 1 : facts_.column.positions;
    std::int64_t chosen = choices[0];
    double least = 0;
    for (const std::int64_t block : choices) {
      const std::int64_t own = std::min(block, along.positions);
      const std::int64_t pixels = own * across;
      const double copied = static_cast<double>(facts_.channels * facts_.slots() * (own + along.reach)) *
                            static_cast<double>(one_row() ? 1 : facts_.column.positions + facts_.column.reach);
      const std::int64_t blocks = divided_up(along.positions, own);
      if (block > choices[0] && (4 * copied > 0.4 * l2 || 4.0 * static_cast<double>(facts_.features * pixels) > 0.5 * l2)) break;
      // Work per output: what panels have too much, what is copied, and threads that wait for the last block.
      const std::int64_t whole_panels = pixels / width;
      const double waste = (static_cast<double>(whole_panels) + narrow_panel(pixels % width, width)) * static_cast<double>(width) /
                           static_cast<double>(pixels);
      const double copying = 2 * copied / static_cast<double>(facts_.channels * pixels * facts_.features);
      const std::int64_t parts = facts_.images() * blocks * shares_of_features(facts_.images() * blocks, rows_);
      const double waiting =
          static_cast<double>(divided_up(parts, writer_.machine.threads) * writer_.machine.threads) / static_cast<double>(parts);
      const double rest = static_cast<double>(blocks * own) / static_cast<double>(along.positions);
      const double cost = (waste * std::min(rest, 1.1) + copying / static_cast<double>(part_taps())) * waiting;
      if (block == choices[0] || cost < least) {
        least = cost;
        chosen = block;
      }
      if (block >= along.positions) break;
    }
    take_block(along, chosen, choices);
  }

  // What the last panel takes beside a whole one: its vectors, unless these are too few for the multiplications to overlap.
  [[nodiscard]] double narrow_panel(std::int64_t pixels, std::int64_t width) const {
    constexpr double kSumsUnderWay = 8;
    const auto sums = [&](std::int64_t wide) { return static_cast<double>(rows_ * divided_up(wide, emitter_.lanes)); };
    return pixels == 0 ? 0 : std::min(1.0, std::max(sums(pixels), kSumsUnderWay) / sums(width));
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
    if (facts_.phases() == 1) {
      begins.clear();
      for (std::int64_t at = 0; at <= static_cast<std::int64_t>(taps.size()); at += part_taps()) begins.push_back(at);
    }
    parts_of_window_ = static_cast<std::int64_t>(begins.size()) - 1;
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
    number("plane", fmt::format("({0} * slot + 15) / 16 * 16 + (({0} * slot + 15) / 16 % 16 == 0 ? 16 : 0)", facts_.slots()));
    if (patches_) {
      number("panel", "KW_PIXELS * kw_lanes");
      number("line", "(rows * columns + panel - 1) / panel * panel + kw_lanes");  // with what the last vector has too much
      number("group", fmt::format("kw_least(line / panel * panel, kw_most(panel, {} / panel * panel))", group_pixels_));
    } else {
      // Rows of sums that are not one line do not reach into each other with their last vectors.
      number("sums_pitch", flat_ ? "pitch" : "kw_most(pitch, (columns + kw_lanes - 1) / kw_lanes * kw_lanes)");
      number("line", "rows * sums_pitch + KW_PIXELS * kw_lanes");
    }
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
    for (std::size_t d = 0; d < parted_; ++d) {
      std::vector<std::int64_t> begin, end;  // the outputs that each part of the window has inputs for
      const auto& dim = *facts_.dims()[d];
      for (std::size_t t = 0; t < taps.size(); t += static_cast<std::size_t>(part_taps())) {
        const auto inside = dim.inside(dim.taps[static_cast<std::size_t>(taps[t].at[d])]);
        begin.push_back(inside.begin);
        end.push_back(inside.end);
      }
      text += fmt::format("  static constexpr std::int64_t begin{0}[] = {{{1}}}, end{0}[] = {{{2}}};\n", d, fmt::join(begin, ", "),
                          fmt::join(end, ", "));
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
    if (patches_)
      packed_ = writer_.scratch("packed_patches", "float",
                                fmt::format("{} * {} + {}", chain_ * part_taps(), constant("group"), constant("panel")), true);
    const std::string lines = patches_ ? constant("tiles") : fmt::format("{}", facts_.column.up);
    sums_ = writer_.scratch("sums", "float", fmt::format("{} * KW_FEATURES * {}", lines, constant("line")), true);
    if (facts_.column.up > 1)
      together_ = writer_.scratch("together", "float", fmt::format("{} * {} + 64", facts_.column.up, constant("columns")), true);
    const std::string count = fmt::format("{} * {} * {}", facts_.groups, constant("tiles"), constant("tile_weights"));
    if (prepacked_) {
      weights_ = writer_.prepared("weights_packed", count + " + 16",
                                  [&](Emitter& to, const std::string& name) { write_weights(to, name); });
    } else if (narrow_) {
      tile_weights_ = writer_.scratch("weights_tile", "float", constant("tile_weights"), true);
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
    write_taps(to, names, Affine::variable(group), first, "0", fmt::format("{}", parts_of_window_), "0",
               fmt::format("{}", facts_.channels));
    for (int i = 0; i < 3; ++i) to.close();
  }

  // Of one tile, into `$to`: those of some phases and channels.
  void write_taps(Emitter& to, LocalNames& names, const Affine& group, VarId first, const std::string& first_phase,
                  const std::string& last_phase, const std::string& first_channel, const std::string& last_channel) {
    to.open(names.say(fmt::format("for (std::int64_t $phase = {}; $phase < {}; ++$phase) {{", first_phase, last_phase)));
    const VarId channel = to.variable("c", facts_.channels);
    to.open(
        names.say(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", to.name(channel), first_channel, last_channel)),
        {channel});
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
    Index index{group * facts_.features + Affine::variable(own), Affine::variable(channel)};
    index.insert(index.end(), window.begin(), window.end());
    to.line(names.say(fmt::format("*$to = {};", to.emit(facts_.weight, index).text)));
    for (int i = 0; i < 4; ++i) to.close();
  }

  // Weights that lie in memory in few bytes become floats tile by tile, in memory of each thread.
  void unpack_weights(VarId first_feature) override {
    unpack(first_feature, "0", fmt::format("{}", parts_of_window_), "0", fmt::format("{}", facts_.channels));
    line(fmt::format("const float* const $weights = {};", tile_weights_));
  }

  void unpack(VarId first_feature, const std::string& first_phase, const std::string& last_phase, const std::string& first_channel,
              const std::string& last_channel) {
    open("{");
    line(fmt::format("float* $to = {};", tile_weights_));
    write_taps(emitter_, names_, group_, first_feature, first_phase, last_phase, first_channel, last_channel);
    emitter_.close();
  }

  void write_body() override {
    line(fmt::format("float* const $sums = {};\nconst std::int64_t $copied_rows = $rows + {};", sums_, facts_.row.reach));
    write_copy();
    if (patches_)
      write_patches();
    else
      write_tiles();
  }

  // A product of weights and patches: some channels of one part of the window at a time, whose panels all features read.
  void write_patches() {
    const std::string plane = constant("plane"), panel = constant("panel"), row = constant("line");
    line(fmt::format("float* const $packed = {};\nconst std::int64_t $pixels = $rows * $columns;", packed_));
    open(fmt::format("for (std::int64_t $group = 0; $group < $pixels; $group += {}) {{", constant("group")));
    line(fmt::format("const std::int64_t $group_end = kw_least($group + {}, $pixels);", constant("group")));
    const bool parted = parted_ > 0;
    if (parted) {
      const std::string first = emitter_.name(open_features());
      line(
          fmt::format("for (std::int64_t $r = {0}; $r < {0} + KW_FEATURES; ++$r)\n"
                      "  for (std::int64_t $p = $group; $p < $group_end + kw_lanes; ++$p) $sums[$r * {1} + $p] = 0.0f;",
                      first, row));
      emitter_.close();
    } else {
      line("bool $begun = false;");
    }
    open_parts();
    if (rows_parted())
      line(
          "const std::int64_t $from = kw_most($group, $begin_row * $columns), $until = kw_least($group_end, $end_row * "
          "$columns);\nif ($from >= $until) continue;");
    else
      line("const std::int64_t $from = $group, $until = $group_end;");
    open(fmt::format("for (std::int64_t $c = 0; $c < {}; $c += {}) {{", facts_.channels, chain_));
    line(fmt::format("const std::int64_t $channels = kw_least({}, {} - $c), $steps = $channels * {};", chain_, facts_.channels,
                     part_taps()));
    line(
        fmt::format("for (std::int64_t $p = $from; $p < $until; $p += {0})\n"
                    "  kw_convolution_panel<{0}>($padded + $c * {1}, {2} + $part * {3}, {3}, $channels, {1}, $columns, {4}, $p, "
                    "$pixels, $packed + ($p - $from) * $steps);",
                    panel, plane, constant("taps"), part_taps(), constant("pitch")));
    const VarId tile = narrow_ ? open_features() : open_tiles();
    if (narrow_) {
      unpack(tile, "$part", "$part + 1", "$c", "$c + $channels");
      line(fmt::format("const float* const $factors = {};", tile_weights_));
    } else {
      line(fmt::format("const float* const $factors = $weights + ($part * {} + $c) * {} * KW_FEATURES;", facts_.channels,
                       part_taps()));
    }
    open(fmt::format("for (std::int64_t $p = $from; $p < $until; $p += {}) {{", panel));
    line(fmt::format("float* const $into = $sums + {} * {} + $p;", emitter_.name(tile), row));
    line(
        fmt::format("kw_convolution_patches<KW_FEATURES, KW_PIXELS, {0}, {1}>($factors, $packed + ($p - $from) * $steps, $steps, "
                    "{2}, $into, $until - $p);",
                    panel, row, parted ? "$into" : "$begun ? $into : nullptr"));
    emitter_.close();
    emitter_.close();
    if (!parted) line("$begun = true;");
    emitter_.close();
    emitter_.close();
    emitter_.close();
    const VarId feature = open_features();
    write_finish(feature, std::vector<Affine>(facts_.rank - 1, Affine(0)),
                 fmt::format("$sums + ({} + $r) * {} + $y * $columns", emitter_.name(feature), row));
    emitter_.close();
  }

  [[nodiscard]] bool rows_parted() const { return parted_ > facts_.outer.size(); }

  // The loop over the parts of the window that the block has inputs for: for rows [$begin_row, $end_row) of it, where it is parted
  // by rows.
  void open_parts() {
    open(fmt::format("for (std::int64_t $part = 0; $part < {}; ++$part) {{", parts_of_window_));
    for (std::size_t d = 0; d < std::min(parted_, facts_.outer.size()); ++d) {
      if (facts_.outer[d].stays_inside()) continue;
      line(fmt::format("if ({0} < {1}[$part] || {0} >= {2}[$part]) continue;", emitter_.text(outer_[d]),
                       constant(fmt::format("begin{}", d)), constant(fmt::format("end{}", d))));
    }
    if (!rows_parted()) return;
    const std::string first = emitter_.text(first_row_);
    const std::size_t d = facts_.outer.size();
    line(fmt::format("const std::int64_t $begin_row = kw_most({0}[$part] - {1}, 0), $end_row = kw_least({2}[$part] - {1}, $rows);",
                     constant(fmt::format("begin{}", d)), first, constant(fmt::format("end{}", d))));
    line("if ($begin_row >= $end_row) continue;");
  }

  std::string copy_address(VarId channel) override {
    return fmt::format("$padded + {} * {}", emitter_.name(channel), constant("plane"));
  }

  void write_tiles() {
    const VarId feature = open_tiles();
    const std::string f = emitter_.name(feature);
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
    if (parted_ > 0)
      write_parted_sums(f);
    else
      write_sums(f, mixed);
    write_finish(feature, phases, fmt::format("$sums + $r * {} + $y * {}", constant("line"), constant("sums_pitch")));
    for (int i = 0; i < opened; ++i) emitter_.close();
  }

  // Phases may have all taps or none, as with a stride and a dilation of two.
  [[nodiscard]] std::int64_t taps_of_largest_phase() const {
    std::map<std::int64_t, std::int64_t> counts;
    std::int64_t most = 1;
    for (const auto& tap : facts_.taps()) most = std::max(most, ++counts[tap.phase]);
    return most;
  }

  // Outputs without taps lie among the others and are 0: tolerances, which go by the size of neighbours, are smaller there.
  [[nodiscard]] std::int64_t longest_chain() const { return facts_.phases() > 1 ? kLongestChain / 2 : kLongestChain; }

  void write_sums(const std::string& feature, const std::string& mixed) {
    const std::int64_t up = facts_.column.up;
    open(fmt::format("for (std::int64_t $side = 0; $side < {}; ++$side) {{", up));
    line(fmt::format("const std::int64_t $begin = {0}[{1}{2}], $count = {0}[{1}{2} + 1] - $begin;", constant("phases"),
                     mixed == "0" ? "" : fmt::format("{} * {} + ", mixed, up), "$side"));
    line(fmt::format("float* const $into = $sums + $side * KW_FEATURES * {};", constant("line")));
    const std::string weights = fmt::format("$weights + $begin * {}", facts_.channels);
    if (!flat_) open("for (std::int64_t $y = 0; $y < $rows; ++$y) {");
    const std::string pixels = flat_ ? fmt::format("($rows - 1) * {} + $columns", constant("pitch")) : "$columns";
    const std::int64_t chain = std::max<std::int64_t>(1, longest_chain() / taps_of_largest_phase());
    write_line(feature, weights, flat_ ? "" : "$y", "$begin", "$count", chain, pixels, "false");
    if (!flat_) emitter_.close();
    emitter_.close();
  }

  // A part of the window after the other, for the rows that have inputs there. What a line writes past the last of them are zeros
  // more, or lies between rows.
  void write_parted_sums(const std::string& feature) {
    line(fmt::format("float* const $into = $sums;\nfor (std::int64_t $p = 0; $p < KW_FEATURES * {}; ++$p) $into[$p] = 0.0f;",
                     constant("line")));
    open_parts();
    if (!rows_parted()) line("constexpr std::int64_t $begin_row = 0;\nconst std::int64_t $end_row = $rows;");
    const std::int64_t chain = std::max<std::int64_t>(1, kLongestChain / part_taps());
    const std::string weights = fmt::format("$weights + $part * {}", facts_.channels * part_taps());
    const std::string begin = fmt::format("$part * {}", part_taps()), count = fmt::format("{}", part_taps());
    if (flat_) {
      write_line(feature, weights, "$begin_row", begin, count, chain,
                 fmt::format("($end_row - $begin_row - 1) * {} + $columns", constant("pitch")), "true");
    } else {
      open("for (std::int64_t $y = $begin_row; $y < $end_row; ++$y) {");
      write_line(feature, weights, "$y", begin, count, chain, "$columns", "true");
      emitter_.close();
    }
    emitter_.close();
  }

  // `row`: of the copy and the sums, where the line begins; `begin` and `count`: its taps.
  void write_line(const std::string& feature, const std::string& weights, const std::string& row, const std::string& begin,
                  const std::string& count, std::int64_t chain, const std::string& pixels, const std::string& adds) {
    const auto moved = [&](const char* pitch) { return row.empty() ? "" : fmt::format(" + {} * {}", row, constant(pitch)); };
    const auto call = [&](const std::string& rows) {
      return fmt::format(
          "kw_convolution_line<{}, KW_PIXELS, KW_FEATURES, {}>({} * KW_FEATURES, $padded{}, {} + {}, {}, {}, {}, $into{}, {}, {}, "
          "{});",
          rows, chain, weights, moved("pitch"), constant("taps"), begin, count, facts_.channels, constant("plane"),
          moved("sums_pitch"), constant("line"), pixels, adds);
    };
    line(fmt::format("if ({} + KW_FEATURES <= {}) {}", feature, facts_.features, call("KW_FEATURES")));
    line("else " + call(constant("edge")));
  }

  std::int64_t rows_ = 1;    // channels of a tile, unless a knob has it otherwise
  std::int64_t blocks_ = 1;  // that the whole output is made of, unless a knob has it otherwise
  bool prepacked_ = false;
  bool narrow_ = false;               // weights lie in memory in few bytes, and stay there
  bool patches_ = false;              // as a product of weights and packed patches
  std::int64_t chain_ = 1;            // channels of a panel
  std::int64_t group_pixels_ = 0;     // that are packed at a time
  std::size_t parted_ = 0;            // dimensions of the window whose positions are parts of their own
  std::int64_t parts_of_window_ = 1;  // whose taps are together; phases have their own
  std::string packed_;
  std::string tile_weights_;
  bool flat_ = false;  // rows of a block are one line, with what lies between them
  std::string block_;
  std::string sums_;
};

}  // namespace

std::string write_tiled_block(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors,
                              std::int64_t shares) {
  return TiledConvolution(writer, stage, facts, vectors).write_function(shares);
}

void write_tiled_convolution(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors) {
  TiledConvolution(writer, stage, facts, vectors).write();
}

}  // namespace kw
