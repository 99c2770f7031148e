// One scalar loop nest for each root: the last resort, which takes every stage.
#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

std::string naive_why_not(const StageWriter&, const Stage&) { return ""; }

// Running values: a loop over the rows, one over the scanned dimension.
void write_running(StageWriter& writer, ValueId root, ValueId anchor) {
  Emitter& e = writer.emitter;
  const Value& scan = writer.graph.at(anchor);
  const auto dim = static_cast<std::size_t>(scan.dims[0]);
  Index index(scan.shape.size());
  std::size_t opened = 0;
  for (std::size_t d = 0; d < scan.shape.size(); ++d) {
    if (d == dim) continue;
    index[d] = Affine::variable(
        e.open_loop("i", scan.shape[d], opened++ == 0 ? writer.parallel_pragma(scan.shape[d], numel(scan.shape)) : ""));
  }
  const bool wide = (scan.fn == "sum" || scan.fn == "prod") && is_floating(scan.dtype);
  const DType acc_type = wide ? DType::f64 : scan.dtype;
  const std::string acc = e.unique("running");
  e.line(fmt::format("{} {} = {};", value_type(acc_type), acc, Emitter::identity(scan.fn, acc_type)));
  index[dim] = Affine::variable(e.open_loop("k", scan.shape[dim]));
  const Expr next = e.converted(e.emit(scan.operands[0], index), acc_type);
  const std::string before = e.unique("before");
  if (scan.number == kScanOfBefore) e.line(fmt::format("const {} {} = {};", value_type(acc_type), before, acc));
  e.line(fmt::format("{} = {};", acc, e.combine(scan.fn, {acc, acc_type, false}, next).text));
  e.provide(anchor, index, e.converted({scan.number == kScanOfBefore ? before : acc, acc_type, false}, scan.dtype));
  store_targets(writer, {{root, root, Index(index.size())}}, index);
  for (std::size_t i = 0; i <= opened; ++i) e.close();
}

void write_naive(StageWriter& writer, const Stage& stage) {
  Emitter& e = writer.emitter;
  for (const ValueId root : stage.roots) {
    if (stage.anchor >= 0 && writer.graph.at(stage.anchor).kind == ValueKind::scan) {
      write_running(writer, root, stage.anchor);
      continue;
    }
    const Shape& shape = writer.graph.shape(root);
    Index index;
    for (std::size_t d = 0; d < shape.size(); ++d)
      index.push_back(Affine::variable(e.open_loop("i", shape[d], d == 0 ? writer.parallel_pragma(shape[d], numel(shape)) : "")));
    store_targets(writer, {{root, root, Index(shape.size())}}, index);
    for (std::size_t d = 0; d < shape.size(); ++d) e.close();
    e.materialise(root, writer.buffer(root));
  }
}

}  // namespace

const Family naive_family{"naive", naive_why_not, write_naive};

}  // namespace kw
