#include "playbook/row_online.h"

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/reach.h"

namespace kw {
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
  constexpr std::int64_t kLongRow = 65536;  // beyond it one running sum a lane would show its rounding
  if (numel(reduced) > kLongRow) return false;
  Index result;
  for (const auto& use : pair.uses) {
    if (use.same < 0 && use.dims != 0) return false;
    result.push_back(use.same < 0 ? Affine(0) : row[static_cast<std::size_t>(use.same)]);
  }
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
    const auto element = [&](VarId j) {
      Index at(shape.size());
      std::size_t next = 0;
      std::vector<int> free;
      for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (next < maximum.dims.size() && maximum.dims[next] == d) {
          ++next;
        } else {
          free.push_back(d);
        }
      at = with_dims(at, free, result);
      return e.emit(maximum.operands[0], with_dims(at, maximum.dims, e.unflatten(Affine::variable(j), reduced)));
    };
    const VarId j = e.variable("j", count, true);
    e.open(fmt::format("for (std::int64_t {0} = 0; {0} + kw_lanes <= {1}; {0} += kw_lanes) {{", e.name(j), count), {j});
    const Expr value = e.as_vector(element(j));
    const std::string higher = e.unique("higher");
    const Expr before = e.apply("exp", {{fmt::format("({} - {})", top, higher), DType::f32, true}}, DType::f32);
    const Expr now = e.apply("exp", {{fmt::format("({} - {})", value.text, higher), DType::f32, true}}, DType::f32);
    e.line(fmt::format("const kw_vec {} = kw_maximum({}, {});", higher, top, value.text));
    e.line(fmt::format("{0} = {0} * {1} + {2};", total, before.text, now.text));
    e.line(fmt::format("{} = {};", top, higher));
    e.close();
    e.line(fmt::format("float {} = kw_max({});", greatest, top));
    const Expr lanes = e.apply("exp", {{fmt::format("({} - {})", top, greatest), DType::f32, true}}, DType::f32);
    e.line(fmt::format("float {} = kw_sum({} * {});", sum, total, lanes.text));
    if (count % kMostLanes != 0) {
      const VarId rest = e.variable("j", count);
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

}  // namespace kw
