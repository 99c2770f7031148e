#include "playbook/row_online.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/reach.h"

namespace kw {
namespace {

struct MomentsPair {
  ValueId sum = -1;
  ValueId squares = -1;
  std::vector<DimUse> uses;
};

// sum((x - sum(x) / n)^2) over the same dimensions.
MomentsPair moments_pair(const Graph& graph, const Plan& plan, const Stage& stage) {
  MomentsPair pair;
  const auto stored = [&](ValueId id) { return plan.buffers.contains(id); };
  const auto is_sum = [&](ValueId id) {
    const Value& value = graph.at(id);
    return value.kind == ValueKind::reduce && value.fn == "sum" && value.dtype == DType::f32 && !stored(id);
  };
  const auto operand = [&](ValueId id, const char* fn, std::size_t which) {
    const Value& value = graph.at(id);
    return value.kind == ValueKind::pointwise && value.fn == fn && !stored(id) ? behind_views(graph, value.operands[which]) : -1;
  };
  for (const ValueId root : stage.roots)
    visit_reached(graph, root, stored, [&](const Reached& at) {
      if (pair.sum >= 0 || !is_sum(at.value)) return;
      const ValueId centred = operand(graph.at(at.value).operands[0], "square", 0);
      const ValueId mean = centred < 0 ? -1 : operand(centred, "sub", 1);
      const ValueId sum = mean < 0 ? -1 : operand(mean, "div", 0);
      if (sum < 0 || !is_sum(sum) || graph.at(sum).dims != graph.at(at.value).dims) return;
      if (graph.at(sum).operands[0] == graph.at(centred).operands[0]) pair = {sum, at.value, at.uses};
    });
  return pair;
}

// The index of a result for a row; nothing where it is not the row's own.
std::optional<Index> result_of_row(const std::vector<DimUse>& uses, const Index& row) {
  Index result;
  for (const auto& use : uses) {
    if (use.same < 0 && use.dims != 0) return std::nullopt;
    result.push_back(use.same < 0 ? Affine(0) : row[static_cast<std::size_t>(use.same)]);
  }
  return result;
}

// The index of a reduction's operand at position j of what is reduced.
Index operand_at(Emitter& e, const Value& reduction, const Shape& shape, const Index& result, VarId j) {
  return operand_index(reduction, result, e.unflatten(Affine::variable(j), shape_of_dims(shape, reduction.dims)));
}

}  // namespace

SoftmaxPair softmax_pair(const Graph& graph, const Plan& plan, const Stage& stage) {
  SoftmaxPair pair;
  const auto stored = [&](ValueId id) { return plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(graph, root, stored, [&](const Reached& at) {
      const Value& sum = graph.at(at.value);
      if (pair.sum >= 0 || sum.kind != ValueKind::reduce || sum.fn != "sum" || sum.dtype != DType::f32 || stored(at.value)) return;
      const Value& exponential = graph.at(sum.operands[0]);
      if (exponential.kind != ValueKind::pointwise || exponential.fn != "exp") return;
      const Value& difference = graph.at(exponential.operands[0]);
      if (difference.kind != ValueKind::pointwise || difference.fn != "sub") return;
      const ValueId top = behind_views(graph, difference.operands[1]);
      const Value& maximum = graph.at(top);
      if (maximum.kind != ValueKind::reduce || maximum.fn != "max" || stored(top) || maximum.dims != sum.dims) return;
      if (maximum.operands[0] != difference.operands[0]) return;
      pair = {top, at.value, at.uses};
    });
  return pair;
}

bool write_online_softmax(StageWriter& writer, const Stage& stage, const Index& row) {
  const SoftmaxPair pair = softmax_pair(writer.graph, writer.plan, stage);
  if (pair.sum < 0 || !writer.wants("explicit_vectors")) return false;
  const Value& maximum = writer.graph.at(pair.maximum);
  const Shape& shape = writer.graph.shape(maximum.operands[0]);
  const Shape reduced = shape_of_dims(shape, maximum.dims);
  constexpr std::int64_t kLongRow = 524288;  // beyond it one running sum a lane would show its rounding
  if (numel(reduced) > kLongRow) return false;
  const std::optional<Index> found = result_of_row(pair.uses, row);
  if (!found) return false;
  const Index& result = *found;
  Emitter& e = writer.emitter;
  const auto write = [&] {
    const std::string top = e.unique("top");
    const std::string total = e.unique("total");
    const std::string greatest = e.unique("maximum");
    const std::string sum = e.unique("sum");
    const std::int64_t count = numel(reduced);
    for (const char* piece : {"splat", "maximum", "max", "sum", "scalar_maximum", "scalar_exp"}) e.need(piece);
    // Not minus infinity: the difference of two of them has no value.
    e.line(fmt::format("kw_vec {} = kw_splat(-3.402823466e+38f);", top));
    e.line(fmt::format("kw_vec {} = kw_splat(0.0f);", total));
    const auto element = [&](VarId j) { return e.emit(maximum.operands[0], operand_at(e, maximum, shape, result, j)); };
    // Blocks of vectors have one maximum each: the sum is rescaled once a block, and terms of a block do not wait for each other.
    const std::string higher = e.unique("higher");
    const auto rescale = [&](const std::string& highest) {
      e.line(fmt::format("const kw_vec {} = kw_maximum({}, {});", higher, top, highest));
      const Expr before = e.exp_to_one({fmt::format("({} - {})", top, higher), DType::f32, true});
      e.line(fmt::format("{0} = {0} * {1};", total, before.text));
      e.line(fmt::format("{} = {};", top, higher));
    };
    const auto term = [&](const Expr& value) {
      return e.exp_to_one({fmt::format("({} - {})", e.as_vector(value).text, higher), DType::f32, true}).text;
    };
    const std::string first = e.unique("j");
    const auto each = [&](const std::function<void(VarId)>& body) {
      const std::string u = e.unique("u");
      e.open(fmt::format("#pragma GCC unroll 8\nfor (int {0} = 0; {0} < 8; ++{0}) {{", u));
      body(e.define("at", fmt::format("{} + {} * kw_lanes", first, u), {0, count - 1}, true));
      e.close();
    };
    e.open(fmt::format("for (std::int64_t {0} = 0; {0} + 8 * kw_lanes <= {1}; {0} += 8 * kw_lanes) {{", first, count));
    const std::string highest = e.unique("highest"), part = e.unique("part");
    e.line(fmt::format("kw_vec {} = kw_splat(-3.402823466e+38f);", highest));
    each([&](VarId at) { e.line(fmt::format("{0} = kw_maximum({0}, {1});", highest, e.as_vector(element(at)).text)); });
    rescale(highest);
    e.line(fmt::format("kw_vec {} = kw_splat(0.0f);", part));
    each([&](VarId at) { e.line(fmt::format("{} += {};", part, term(element(at)))); });
    e.line(fmt::format("{} += {};", total, part));
    e.close();
    const VarId j = e.variable("j", count, true);
    e.open(fmt::format("for (std::int64_t {0} = {1} / (8 * kw_lanes) * (8 * kw_lanes); {0} + kw_lanes <= {1}; {0} += kw_lanes) {{",
                       e.name(j), count),
           {j});
    const Expr value = element(j);
    rescale(e.as_vector(value).text);
    e.line(fmt::format("{} += {};", total, term(value)));
    e.close();
    e.line(fmt::format("float {} = kw_max({});", greatest, top));
    const Expr lanes = e.exp_to_one({fmt::format("({} - {})", top, greatest), DType::f32, true});
    e.line(fmt::format("float {} = kw_sum({} * {});", sum, total, lanes.text));
    if (count % kMostLanes != 0) {
      const VarId rest = e.summed(e.variable("j", count));
      e.open(fmt::format("for (std::int64_t {0} = {1} / kw_lanes * kw_lanes; {0} < {1}; ++{0}) {{", e.name(rest), count), {rest});
      const Expr single = element(rest);
      const std::string raised = e.unique("higher");
      e.line(fmt::format("const float {} = kw_maximum({}, {});", raised, greatest, single.text));
      e.line(fmt::format("{0} = {0} * kw_exp({1} - {2}) + kw_exp({3} - {2});", sum, greatest, raised, single.text));
      e.line(fmt::format("{} = {};", greatest, raised));
      e.close();
    }
    e.provide(pair.maximum, result, {greatest, DType::f32, false});
    e.provide(pair.sum, result, {sum, DType::f32, false});
    writer.use("online_softmax");
    writer.use("explicit_vectors");
  };
  return writer.attempt(write);
}

bool write_online_moments(StageWriter& writer, const Stage& stage, const Index& row) {
  const MomentsPair pair = moments_pair(writer.graph, writer.plan, stage);
  if (pair.sum < 0 || !writer.wants("explicit_vectors")) return false;
  const Value& summed = writer.graph.at(pair.sum);
  const Shape& shape = writer.graph.shape(summed.operands[0]);
  const std::int64_t count = numel(shape_of_dims(shape, summed.dims));
  const std::optional<Index> result = result_of_row(pair.uses, row);
  if (!result || 4.0 * static_cast<double>(count) < 0.4 * writer.machine.l2_bytes) return false;
  Emitter& e = writer.emitter;
  return writer.attempt([&] {
    for (const char* piece : {"moments", "sum", "splat"}) e.need(piece);
    const std::string moments = e.unique("moments"), block = e.unique("block"), end = e.unique("end");
    e.line(fmt::format("kw_moments {};", moments));
    e.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += 1024) {{", block, count));
    e.line(fmt::format("const std::int64_t {0} = {1} + 1024 < {2} ? {1} + 1024 : {2};", end, block, count));
    // All of a block: four vectors at a time, then one, then what is left of the last block. The sum of what `term` makes of each.
    const auto pass = [&](const char* hint, const std::function<std::string(const std::string&, bool)>& term) {
      const std::string lanes = e.unique(hint), rest = e.unique("rest"), j = e.unique("j"), u = e.unique("u");
      const auto take = [&](VarId at, const std::string& into) {
        const Expr value = e.emit(summed.operands[0], operand_at(e, summed, shape, *result, at));
        const bool vector = e.is_vector(at);
        e.line(fmt::format("{} += {};", into, term(vector ? e.as_vector(value).text : value.text, vector)));
      };
      e.line(fmt::format("kw_vec {}[4] = {{}};\nfloat {} = 0.0f;", lanes, rest));
      e.open(fmt::format("for (std::int64_t {0} = {1}; {0} + 4 * kw_lanes <= {2}; {0} += 4 * kw_lanes) {{", j, block, end));
      e.open(fmt::format("#pragma GCC unroll 4\nfor (int {0} = 0; {0} < 4; ++{0}) {{", u));
      take(e.define("at", fmt::format("{} + {} * kw_lanes", j, u), {0, count - 1}, true), fmt::format("{}[{}]", lanes, u));
      e.close();
      e.close();
      if (count % (4 * kMostLanes) != 0) {
        const VarId one = e.variable("j", count, true);
        e.open(fmt::format("for (std::int64_t {0} = {1} + ({2} - {1}) / (4 * kw_lanes) * (4 * kw_lanes); {0} + kw_lanes <= {2}; "
                           "{0} += kw_lanes) {{",
                           e.name(one), block, end),
               {one});
        take(one, lanes + "[0]");
        e.close();
      }
      if (count % kMostLanes != 0) {
        const VarId single = e.summed(e.variable("j", count));
        e.open(fmt::format("for (std::int64_t {0} = {1} + ({2} - {1}) / kw_lanes * kw_lanes; {0} < {2}; ++{0}) {{", e.name(single),
                           block, end),
               {single});
        take(single, rest);
        e.close();
      }
      std::string total = e.unique("total");
      e.line(fmt::format("const double {0} = double(kw_sum(({1}[0] + {1}[1]) + ({1}[2] + {1}[3]))) + {2};", total, lanes, rest));
      return total;
    };
    ask_ahead(writer);
    const std::string total = pass("sums", [](const std::string& value, bool) { return value; });
    e.prefetch.clear();
    const std::string mean = e.unique("block_mean");
    e.line(fmt::format("const float {} = float({} / double({} - {}));", mean, total, end, block));
    const std::string squares = pass("squares", [&](const std::string& value, bool vector) {
      const std::string apart = e.unique("apart");
      e.line(fmt::format("const {} {} = {} - {};", vector ? "kw_vec" : "float", apart, value, mean));
      return fmt::format("{0} * {0}", apart);
    });
    e.line(fmt::format("{0}.add(double({1} - {2}), {3} / double({1} - {2}), {4});", moments, end, block, total, squares));
    e.close();
    e.provide(pair.sum, *result, {fmt::format("float({0}.mean * {0}.count)", moments), DType::f32, false});
    e.provide(pair.squares, *result, {fmt::format("float({}.squares)", moments), DType::f32, false});
    writer.use("online_moments");
    writer.use("explicit_vectors");
  });
}

}  // namespace kw
