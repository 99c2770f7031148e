// Operands of a product on a GPU: how they lie in memory, how tiles of them get to shared memory, where results go.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_product.h"
#include "playbook/halves.h"

namespace kw {
namespace {

// Whether neighbours along `var` are neighbours in memory, in what a value reads first.
bool runs_along(GpuKernel& probe, const Graph& graph, ValueId value, const Index& index, VarId var) {
  const auto place = probe.e.place_of(value, index);
  if (place.found) return place.position.coefficient(var) == 1;
  const Value& of = graph.at(value);
  if (of.kind != ValueKind::pointwise) return false;
  return std::ranges::any_of(of.operands, [&](ValueId operand) { return runs_along(probe, graph, operand, index, var); });
}

void look_at(GpuWriter& writer, const GpuProduct& product, GpuOperand& operand) {
  GpuKernel probe = writer.kernel("probe");
  const VarId batch = probe.e.variable("b", product.batches);
  const VarId outer = probe.e.variable("r", operand.extent);
  const VarId depth = probe.e.variable("k", product.depth);
  probe.e.open("{", {batch, outer, depth});
  const Index index = operand.index(Affine::variable(batch), Affine::variable(outer), Affine::variable(depth));
  const auto place = probe.e.place_of(operand.value, index);
  operand.direct = place.found;
  operand.memory = place.found ? place.dtype : writer.graph.dtype(operand.value);
  const bool along_outer = operand.extent > 1 && runs_along(probe, writer.graph, operand.value, index, outer);
  operand.along_depth = !along_outer && (operand.left || runs_along(probe, writer.graph, operand.value, index, depth));
}

}  // namespace

GpuProduct gpu_product(GpuWriter& writer, const Stage& stage) {
  const Value& value = writer.graph.at(stage.anchor);
  GpuProduct product;
  product.value = stage.anchor;
  product.batches = value.shape[0];
  product.rows = value.shape[1];
  product.columns = value.shape[2];
  product.depth = writer.graph.shape(value.operands[0])[2];
  product.factors = factor_type(writer.graph, stage.anchor);
  product.left = {behind_widening(writer.graph, value.operands[0]), true, product.rows};
  product.right = {behind_widening(writer.graph, value.operands[1]), false, product.columns};
  look_at(writer, product, product.left);
  look_at(writer, product, product.right);
  return product;
}

Emitter::Place place_of_piece(Emitter& e, const GpuOperand& operand, const Affine& batch, VarId outer, VarId depth,
                              std::int64_t lanes) {
  const VarId along = operand.along_depth ? depth : outer;
  auto at = e.place_of(operand.value, operand.index(batch, Affine::variable(outer), Affine::variable(depth)));
  bool aligned = at.found && at.position.constant % lanes == 0 && at.position.coefficient(along) == 1;
  for (const auto& [var, coefficient] : at.position.terms) {
    const bool known = var == outer || var == depth || batch.coefficient(var) != 0;
    if (!known || (var != along && coefficient % lanes != 0)) aligned = false;
  }
  if (!aligned) e.set_trouble("copies that are not at multiples of 16 bytes");
  return at;
}

void write_tile_copy(GpuKernel& kernel, const GpuProduct& product, const GpuOperand& operand, const TileCopy& copy,
                     const std::string& name, const std::string& first, const std::string& depth_end, const Affine& batch) {
  Emitter& e = kernel.e;
  const bool half = copy.element.bytes == 2;
  const bool whole = copy.vector && (copy.async || half);  // 16 bytes as they are
  e.open(fmt::format("const auto {} = [&]({}* kw_to, int kw_from) {{", name, copy.element.name));
  const std::string outer = e.unique("o"), depth = e.unique("d");
  const std::string lanes = copy.vector ? fmt::format(" / {}", copy.element.lanes()) : "";
  const std::string times = copy.vector ? fmt::format(" * {}", copy.element.lanes()) : "";
  e.open(fmt::format("#pragma unroll 4\nfor (int i = threadIdx.x; i < {} * {}{}; i += {}) {{", copy.outer, copy.depth, lanes,
                     copy.threads));
  const std::string& fast = operand.along_depth ? copy.depth : copy.outer;
  const std::string& row = operand.along_depth ? outer : depth;
  const std::string& position = operand.along_depth ? depth : outer;
  e.line(fmt::format("const int {} = i / ({}{}), {} = i % ({}{}){};", row, fast, lanes, position, fast, lanes, times));
  const std::string place = fmt::format(fmt::runtime(copy.place), row, position);
  const std::string inside = fmt::format("({0} % {1} == 0 || {2} + {3} < {0}) && kw_from + {4} < {5}", operand.extent, copy.outer,
                                         first, outer, depth, depth_end);
  const auto define = [&](bool vector) {
    const VarId at =
        e.define("outer", fmt::format("{} + {}", first, outer), {0, operand.extent - 1}, vector && !operand.along_depth);
    const VarId k = e.define("depth", fmt::format("kw_from + {}", depth), {0, product.depth - 1}, vector && operand.along_depth);
    return std::pair(at, k);
  };
  if (whole) {
    // Nothing is read where it would be outside: the copy fills with zeros.
    e.line(fmt::format("const bool inside = {};", inside));
    const auto [at, k] = define(false);
    const auto from = place_of_piece(e, operand, batch, at, k, copy.element.lanes());
    e.line(fmt::format("kw_{0}16(kw_to + {1}, inside ? {2} + {3} : {2}, inside);", copy.async ? "copy" : "move", place,
                       from.pointer, e.text(from.position)));
  } else {
    e.line(copy.vector ? "kw_vec kw_value = kw_splat(0.0f);" : "float kw_value = 0.0f;");
    e.open(fmt::format("if ({}) {{", inside));
    const auto [at, k] = define(copy.vector);
    const Expr value = e.emit(operand.value, operand.index(batch, Affine::variable(at), Affine::variable(k)));
    e.line(fmt::format("kw_value = {};", copy.vector ? e.as_vector(value).text : value.text));
    e.close();
    const std::string stored = half ? fmt::format("{}_of(kw_value)", copy.element.name) : "kw_value";
    e.line(copy.vector ? fmt::format("kw_store(kw_to + {}, kw_value);", place) : fmt::format("kw_to[{}] = {};", place, stored));
  }
  e.close();
  e.close("};");
}

void store_product(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const GpuProduct& product, const Index& index,
                   const std::string& text, bool vector) {
  Emitter& e = kernel.e;
  const DType dtype = writer.graph.dtype(product.value);
  Expr sum = e.named("sum", text, DType::f32, vector, index);
  if (dtype != DType::f32) sum = e.converted(sum, dtype);
  e.provide(product.value, index, sum);
  e.provide(product.value, without_single_positions(index, writer.graph.shape(product.value)), sum);
  const Shape& from = writer.graph.shape(product.value);
  for (const ValueId root : stage.roots) {
    const Shape& to = writer.graph.shape(root);
    const Index at = from == to ? index : e.unflatten(e.flatten(index, from), to);
    e.store(writer.buffer(root), at, e.emit(root, at));
  }
}

}  // namespace kw
