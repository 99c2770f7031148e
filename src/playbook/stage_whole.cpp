// Few results of long reductions: parts of the reduced dimensions are shared out, and their partial results combined in order.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"

namespace kw {
namespace {

constexpr std::int64_t kMostParts = 256;

std::string whole_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || stage.roots.size() != 1) return "it is not one reduction";
  const Value& root = writer.graph.at(stage.roots[0]);
  if (root.kind != ValueKind::reduce) return "it is not one reduction";
  if (!writer.wants("split_reduction") || !writer.wants("parallel_outer")) return "split_reduction is not wanted";
  const std::int64_t results = numel(root.shape);
  const std::int64_t terms = numel(writer.graph.shape(root.operands[0])) / std::max<std::int64_t>(results, 1);
  if (results >= 4 * writer.machine.threads) return "there are enough results for all threads";
  if (terms < 32768) return "the reduction is short";
  return "";
}

void write_whole(StageWriter& writer, const Stage& stage) {
  Emitter& e = writer.emitter;
  const ValueId id = stage.roots[0];
  const Value& root = writer.graph.at(id);
  const Shape& operand = writer.graph.shape(root.operands[0]);
  const Shape reduced = shape_of_dims(operand, root.dims);
  const std::int64_t results = numel(root.shape);
  const std::int64_t terms = numel(reduced);
  const bool by_rows = reduced.size() > 1 && reduced[0] >= 8 && terms / reduced[0] >= 64;
  const std::int64_t part = (terms / kMostParts + kMostLanes - 1) / kMostLanes * kMostLanes;
  const std::int64_t parts = by_rows ? reduced[0] : (terms + part - 1) / part;
  const bool wide = (root.fn == "sum" || root.fn == "prod") && root.dtype == DType::f32;
  const DType partial_type = wide ? DType::f64 : root.dtype;
  const std::string partial = writer.scratch("partial", value_type(partial_type), fmt::format("{}", results * parts));
  const std::string pragma = writer.parallel_pragma(results * parts, results * terms, true);
  if (!pragma.empty()) writer.use("split_reduction");
  e.reduce_style = wanted_reduce_style(writer);

  const VarId i = e.open_loop("i", results * parts, pragma);
  const Index split = e.unflatten(Affine::variable(i), {results, parts});
  const Index index = e.unflatten(split[0], root.shape);
  Expr value;
  if (by_rows) {
    value = e.reduce_part(id, index, {split[1]}, "", "");
  } else {
    const std::string begin = e.unique("begin");
    const std::string end = e.unique("end");
    e.line(fmt::format("const std::int64_t {} = ({}) * {};", begin, e.text(split[1]), part));
    e.line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", end, begin, part, terms));
    value = e.reduce_part(id, index, {}, begin, end);
  }
  e.line(fmt::format("{}[{}] = {};", partial, e.name(i), value.text));
  e.close();
  if (e.reduce_style.vector) writer.use("explicit_vectors");
  e.reduce_style = {};

  const VarId result = e.open_loop("i", results);
  const std::string acc = e.unique("total");
  e.line(fmt::format("{} {} = {};", value_type(partial_type), acc, Emitter::identity(root.fn, partial_type)));
  const VarId k = e.open_loop("k", parts);
  const Expr next{fmt::format("{}[{}]", partial, e.text(Affine::variable(result) * parts + Affine::variable(k))), partial_type,
                  false};
  e.line(fmt::format("{} = {};", acc, e.combine(root.fn, {acc, partial_type, false}, next).text));
  e.close();
  e.store(writer.buffer(id), e.unflatten(Affine::variable(result), root.shape),
          e.converted({acc, partial_type, false}, root.dtype));
  e.close();
}

}  // namespace

const Family whole_family{"whole", whole_why_not, write_whole};

}  // namespace kw
