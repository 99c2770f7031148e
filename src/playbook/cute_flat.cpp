// Pointwise stages in CuTe: a block has a tile of the whole, each thread fragments of it that it reads and writes in vectors.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/cute_fragments.h"

namespace kw {
namespace {

struct Streamed {
  ValueId value = -1;
  std::string memory;
  DType dtype = DType::f32;
};

// What the stage reads at its own positions, one after the other in memory.
void find_streamed(GpuWriter& writer, GpuKernel& probe, ValueId value, const Index& index, VarId flat,
                   std::vector<Streamed>& found) {
  const auto place = probe.e.place_of(value, index);
  if (place.found) {
    const bool known = std::ranges::any_of(found, [&](const Streamed& each) { return each.value == value; });
    if (!known && place.position == Affine::variable(flat)) found.push_back({value, place.pointer, place.dtype});
    return;
  }
  const Value& of = writer.graph.at(value);
  if (of.kind != ValueKind::pointwise) return;
  for (const ValueId operand : of.operands) find_streamed(writer, probe, operand, index, flat, found);
}

std::vector<Streamed> streamed_values(GpuWriter& writer, const Stage& stage) {
  GpuKernel probe = writer.kernel("probe");
  const Shape& shape = writer.graph.shape(stage.roots[0]);
  const VarId flat = probe.e.variable("j", numel(shape));
  probe.e.open("{", {flat});
  const Index index = probe.e.unflatten(Affine::variable(flat), shape);
  std::vector<Streamed> found;
  for (const ValueId root : stage.roots) find_streamed(writer, probe, root, index, flat, found);
  return found;
}

bool write_cute_flat(GpuWriter& writer, const Stage& stage) {
  const bool wanted = writer.wants("vector_load") || writer.wants("unroll_items");
  if (stage.anchor >= 0 || stage.has_reductions || !wanted) return false;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  for (const ValueId root : stage.roots)
    if (writer.graph.shape(root) != shape) return false;
  const std::int64_t count = numel(shape);
  const auto streamed = streamed_values(writer, stage);
  std::vector<DType> types;
  for (const Streamed& each : streamed) types.push_back(each.dtype);
  for (const ValueId root : stage.roots) types.push_back(writer.buffer(root).dtype);

  GpuKernel kernel = writer.kernel("pointwise_fragments");
  Emitter& e = kernel.e;
  CuteStretch stretch;
  stretch.count = count;
  stretch.lanes = lanes_for(writer, types, count);
  stretch.threads = writer.block_threads(kernel, 256, {64, 128, 256, 512});
  stretch.thread = "threadIdx.x";
  stretch.tile = fmt::format("{} * {}", stretch.threads, stretch.lanes);
  const std::int64_t resident = static_cast<std::int64_t>(writer.gpu.sms) * writer.gpu.max_threads_per_sm;
  if (writer.wants("unroll_items") && count >= 2 * resident) {
    stretch.tile += " * " + kernel.knob("KW_ITEMS", 4, {2, 4, 8});
    kernel.claim("unroll_items");
  }
  stretch.at = e.unique("at");
  const std::string block = fmt::format("make_shape(Int<{}>{{{{}}}}), make_coord(blockIdx.x)", stretch.tile);
  stretch.whole = fmt::format("local_tile(make_tensor({{0}}, make_layout(Int<{}>{{{{}}}})), {})", count, block);
  kernel.grid = blocks_for(count, stretch.tile);
  write_positions(
      e, stretch,
      fmt::format("local_tile(make_identity_tensor(make_shape(Int<{}>{{}})), make_shape(Int<{}>{{}}), make_coord(blockIdx.x))",
                  count, stretch.tile));
  std::vector<std::string> parts, results;
  for (const Streamed& each : streamed) {
    parts.push_back(e.unique("part"));
    write_fragment_in(writer, e, stretch, parts.back(), each.memory, each.dtype);
  }
  for (const ValueId root : stage.roots) {
    results.push_back(e.unique("result"));
    declare_fragment_out(writer, e, stretch, results.back(), writer.buffer(root).name, writer.buffer(root).dtype);
  }
  e.open(fmt::format("CUTE_UNROLL\nfor (int i = 0; i < size({}); ++i) {{", stretch.at));
  const VarId j = e.define("j", fmt::format("get<0>({}(i))", stretch.at), {0, count - 1});
  e.line(fmt::format("if ({0} % ({1}) != 0 && {2} >= {0}) continue;", count, stretch.tile, e.name(j)));
  const Index index = e.unflatten(Affine::variable(j), shape);
  for (std::size_t s = 0; s < streamed.size(); ++s)
    e.provide(streamed[s].value, index, fragment_element(parts[s], "i", streamed[s].dtype));
  for (std::size_t r = 0; r < stage.roots.size(); ++r) {
    const Expr value = e.emit(stage.roots[r], index);
    e.line(fmt::format("{}(i) = {};", results[r], as_element(value, writer.buffer(stage.roots[r]).dtype)));
    e.provide(stage.roots[r], index, value);
  }
  e.close();
  for (const auto& result : results) write_fragment_out(e, stretch, result);
  if (stretch.lanes > 1) kernel.claim("vector_load");
  writer.bound_registers(kernel);
  return writer.finish(kernel);
}

}  // namespace

const GpuFamily cute_flat_family{"flat in CuTe", write_cute_flat};

}  // namespace kw
