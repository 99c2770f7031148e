#include "playbook/convolution_block.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "playbook/loops.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

constexpr double kWorthSharing = 200e3;  // multiplications

}  // namespace

ConvolutionBlock::ConvolutionBlock(StageWriter& writer, const Stage& stage, const ConvolutionFacts& facts, bool vectors)
    : writer_(writer),
      emitter_(writer.emitter),
      stage_(stage),
      facts_(facts),
      names_(writer.emitter),
      vectors_(vectors),
      column_(facts.column) {}

void ConvolutionBlock::claim_fusion() {
  if (std::ranges::any_of(stage_.roots, [&](ValueId root) { return root != facts_.value; })) writer_.use("fuse_epilogue");
  if (!is_in_memory(facts_.input)) writer_.use("fuse_prologue");
}

bool ConvolutionBlock::is_in_memory(ValueId id) const {
  while (emitter_.buffer_of(id) == nullptr &&
         (writer_.graph.at(id).kind == ValueKind::view || writer_.graph.at(id).kind == ValueKind::reshape))
    id = writer_.graph.at(id).operands[0];
  return emitter_.buffer_of(id) != nullptr || writer_.graph.at(id).kind == ValueKind::argument;
}

// As many channels of the output at a time as leave few over.
std::int64_t ConvolutionBlock::tile_rows(std::int64_t registers) const {
  const std::vector<std::int64_t> order =
      registers == 24 ? std::vector<std::int64_t>{8, 12, 6, 4} : std::vector<std::int64_t>{6, 4};
  std::int64_t best = order[0], most = divided_up(facts_.features, best) * best;
  for (const std::int64_t rows : order)
    if (const std::int64_t own = divided_up(facts_.features, rows) * rows; own < most) {
      best = rows;
      most = own;
    }
  return best;
}

std::int64_t ConvolutionBlock::shares_of_features(std::int64_t blocks, std::int64_t tile_rows) const {
  const std::int64_t wanted = 2 * writer_.machine.threads;
  if (blocks >= wanted || facts_.multiplications() < kWorthSharing || !writer_.wants("parallel_outer")) return 1;
  return std::clamp<std::int64_t>(divided_up(wanted, std::max<std::int64_t>(blocks, 1)), 1, divided_up(facts_.features, tile_rows));
}

// The function of one block: a share of the features of a group for some rows of an image.
void ConvolutionBlock::write_block() {
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
  const Affine share = parameter("share", shares_);
  std::vector<std::string> declared;
  for (const VarId var : variables) {
    arguments_.push_back(emitter_.name(var));
    declared.push_back("std::int64_t " + arguments_.back());
  }
  open(fmt::format("const auto {} = [&]({}) {{", convolve_, fmt::join(declared, ", ")), variables);
  line(fmt::format("float* const $padded = {};", padded_));
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
  if (shares_ > 1) {
    line(fmt::format("constexpr std::int64_t $share_features = ({} + {} - 1) / {} * KW_FEATURES;", constant("tiles"), shares_,
                     shares_));
    line(
        fmt::format("const std::int64_t $first_feature = {0} * $share_features, $last_feature = kw_least($first_feature + "
                    "$share_features, {1});",
                    emitter_.text(share), facts_.features));
  }
  write_body();
  emitter_.close("};");
}

// --- the copy ---

void ConvolutionBlock::write_copy() {
  const VarId channel = emitter_.open_loop("c", facts_.channels);
  line(fmt::format("float* $slot = {};", copy_address(channel)));
  int opened = 1;
  std::vector<std::string> inside;
  std::vector<Affine> positions;
  for (std::size_t d = 0; d < facts_.outer.size(); ++d) {
    const auto& dim = facts_.outer[d];
    positions.push_back(outer_[d] * dim.stride + open_slots(dim, opened));
    if (const std::string check = check_of(positions.back(), dim); !check.empty()) inside.push_back(check);
  }
  const Affine row_slot = open_slots(facts_.row, opened);
  const Affine column_slot = open_slots(column_, opened);
  open("for (std::int64_t $y = 0; $y < $copied_rows; ++$y) {");
  ++opened;
  line(fmt::format("float* const $to = $slot + $y * {0};\nconst std::int64_t $width = {1};", constant("pitch"),
                   one_row() ? fmt::format("$columns + {}", column_.reach) : constant("pitch")));
  line(fmt::format("const std::int64_t $at_row = ({} + $y) * {} + {};", emitter_.text(first_row_), facts_.row.stride,
                   emitter_.text(row_slot)));
  inside.push_back(names_.say(fmt::format("$at_row >= 0 && $at_row < {}", facts_.row.inputs)));
  open(fmt::format("if ({}) {{", fmt::join(inside, " && ")));
  Index index{batch_, group_ * facts_.channels + Affine::variable(channel)};
  for (std::size_t d = 0; d < positions.size(); ++d)
    index.push_back(positions[d].is_constant()
                        ? positions[d]
                        : Affine::variable(emitter_.define("at", emitter_.text(positions[d]), {0, facts_.outer[d].inputs - 1})));
  if (facts_.rank > 1) index.push_back(Affine::variable(emitter_.define("at", names_.say("$at_row"), {0, facts_.row.inputs - 1})));
  write_copied_row(index, column_slot);
  emitter_.close();
  line("else for (std::int64_t $x = 0; $x < $width; ++$x) $to[$x] = 0.0f;");
  emitter_.close();
  line(fmt::format("$slot += {};", constant("slot")));
  for (int i = 2; i < opened; ++i) emitter_.close();
  write_copied(channel);
  emitter_.close();
}

// A loop over the slots of a dimension, where there are several: the position that is first in each.
Affine ConvolutionBlock::open_slots(const ConvolutionDim& dim, int& opened) {
  if (dim.slots.size() == 1) return Affine(dim.slots[0]);
  const std::string table = emitter_.unique("slots");
  writer_.declare(fmt::format("static constexpr std::int64_t {}[] = {{{}}};", table, fmt::join(dim.slots, ", ")));
  const VarId number = emitter_.open_loop("s", static_cast<std::int64_t>(dim.slots.size()));
  ++opened;
  const auto [low, high] = std::ranges::minmax(dim.slots);
  return Affine::variable(emitter_.define("first", fmt::format("{}[{}]", table, emitter_.name(number)), {low, high}));
}

std::string ConvolutionBlock::check_of(const Affine& position, const ConvolutionDim& dim) {
  if (dim.stays_inside()) return "";
  return fmt::format("{0} >= 0 && {0} < {1}", "(" + emitter_.text(position) + ")", dim.inputs);
}

// Columns of which the input is there are [$from, $until); zeros surround them.
void ConvolutionBlock::write_copied_row(const Index& row, const Affine& slot) {
  const auto& dim = column_;
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
void ConvolutionBlock::write_columns(const Index& row, const Affine& slot) {
  const auto& dim = column_;
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

VarId ConvolutionBlock::open_features() {
  const VarId feature = emitter_.variable("feature", facts_.features);
  const bool whole = shares_ == 1;
  open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; {0} += KW_FEATURES) {{", emitter_.name(feature),
                   whole ? "0" : "$first_feature", whole ? fmt::format("{}", facts_.features) : "$last_feature"),
       {feature});
  return feature;
}

VarId ConvolutionBlock::open_tiles() {
  const VarId feature = open_features();
  const std::string f = emitter_.name(feature);
  if (weights_.empty()) {
    unpack_weights(feature);
    return feature;
  }
  const std::string group = group_.is_constant() ? "" : fmt::format("{} * {} + ", emitter_.text(group_), constant("tiles"));
  line(fmt::format("const float* const $weights = {} + ({}{} / KW_FEATURES) * {};", weights_, group, f, constant("tile_weights")));
  return feature;
}

// What becomes of the sums: everything that follows the convolution, and the stores.
void ConvolutionBlock::write_finish(VarId first_feature, const std::vector<Affine>& phases, const std::string& line_of) {
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
  line(fmt::format("const float* $line = {};", line_of));
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
Affine ConvolutionBlock::output(const ConvolutionDim& dim, const Affine& position, const Affine& phase) {
  Affine at = position * dim.up + phase;
  if (dim.up == 1) return at;
  const VarId var = emitter_.define("at", emitter_.text(at), {0, dim.outputs - 1});
  if (dim.outputs % dim.up != 0) line(fmt::format("if ({} >= {}) continue;", emitter_.name(var), dim.outputs));
  return Affine::variable(var);
}

void ConvolutionBlock::write_finished_row(const Index& row) {
  const auto& dim = facts_.column;
  const auto element = [&](VarId x) {
    Index index = row;
    index.push_back(first_column_ * dim.up + Affine::variable(x));
    const bool vector = emitter_.is_vector(x);
    if (vector) emitter_.need("load");
    const std::string text = names_.say(fmt::format(fmt::runtime(vector ? "kw_load($line + {})" : "$line[{}]"), emitter_.name(x)));
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

void ConvolutionBlock::write_calls() {
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
  loop("share", shares_, "");
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

}  // namespace kw
