// Pointwise stages that read something along another dimension than they write: its tiles turn round in shared memory, so that both
// sides run along memory.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_stage.h"

namespace kw {
namespace {

// A value that the stage reads at its own positions, whose neighbours in memory are neighbours along `dim`.
struct Turned {
  ValueId value = -1;
  std::size_t dim = 0;
};

// The dimension along which a value at the root's positions is side by side in memory; -1: along none, or the last one is.
int turned_dim(GpuKernel& probe, ValueId value, const Index& index) {
  const auto place = probe.e.place_of(value, index);
  if (!place.found) return -1;
  const auto step = [&](std::size_t d) {
    return index[d].terms.empty() ? 0 : place.position.coefficient(index[d].terms.begin()->first);
  };
  if (step(index.size() - 1) <= 1) return -1;
  for (std::size_t d = 0; d + 1 < index.size(); ++d)
    if (step(d) == 1) return static_cast<int>(d);
  return -1;
}

void find_turned(GpuWriter& writer, GpuKernel& probe, ValueId value, const Index& index, std::vector<Turned>& found) {
  const Value& of = writer.graph.at(value);
  if (const int dim = turned_dim(probe, value, index); dim >= 0) {
    const bool known = std::ranges::any_of(found, [&](const Turned& each) { return each.value == value; });
    if (!known && (found.empty() || found[0].dim == static_cast<std::size_t>(dim)))
      found.push_back({value, static_cast<std::size_t>(dim)});
    return;
  }
  if (of.kind != ValueKind::pointwise || probe.e.place_of(value, index).found) return;
  for (const ValueId operand : of.operands) find_turned(writer, probe, operand, index, found);
}

std::vector<Turned> turned_values(GpuWriter& writer, const Stage& stage) {
  GpuKernel probe = writer.kernel("probe");
  Index index;
  std::vector<VarId> vars;
  for (const auto extent : writer.graph.shape(stage.roots[0])) {
    vars.push_back(probe.e.variable("i", extent));
    index.push_back(Affine::variable(vars.back()));
  }
  probe.e.open("{", vars);
  std::vector<Turned> found;
  for (const ValueId root : stage.roots) find_turned(writer, probe, root, index, found);
  return found;
}

// How an element of a tile is spelled: `wide` along what is read side by side, `high` along what is written side by side.
std::string tile_element(bool cute, const std::string& tile, const std::string& pad, bool swizzled) {
  if (cute) return tile + "(high, wide)";
  if (swizzled) return tile + "[high * KW_TILE + (wide ^ high)]";
  return fmt::format("{}[high * (KW_TILE + {}) + wide]", tile, pad);
}

// The tile in shared memory: an array, or a tensor whose layout pads or swizzles.
std::string tile_declaration(bool cute, std::string_view type, const std::string& tile, const std::string& pad, bool swizzled) {
  if (!cute) return fmt::format("__shared__ {} {}[KW_TILE * (KW_TILE + {})];", type, tile, pad);
  const std::string plain = fmt::format("Layout<Shape<Int<KW_TILE>, Int<KW_TILE>>, Stride<Int<KW_TILE + {}>, _1>>{{}}", pad);
  const char* bits = "Swizzle<(KW_TILE == 16 ? 4 : 5), 0, (KW_TILE == 64 ? 6 : KW_TILE == 32 ? 5 : 4)>{}";
  return fmt::format(
      "__shared__ {0} {1}_memory[KW_TILE * (KW_TILE + {2})];\nTensor {1} = make_tensor(make_smem_ptr({1}_memory), {3});", type,
      tile, pad, swizzled ? fmt::format("composition({}, {})", bits, plain) : plain);
}

bool write_transpose(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || stage.has_reductions || !writer.wants("transpose_tile")) return false;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  if (shape.size() < 2) return false;
  for (const ValueId root : stage.roots)
    if (writer.graph.shape(root) != shape) return false;
  const auto turned = turned_values(writer, stage);
  if (turned.empty()) return false;
  const std::size_t last = shape.size() - 1, along = turned[0].dim;
  if (shape[last] < 8 || shape[along] < 8) return false;

  GpuKernel kernel = writer.kernel("turned_tiles");
  Emitter& e = kernel.e;
  kernel.knob("KW_TILE", 32, {16, 32, 64});
  // Work-items of a CPU take turns: one of them turns a tile round without waiting for others.
  const std::string threads = writer.dialect == GpuDialect::opencl ? writer.block_threads(kernel, 1, {1, 4, 16})
                                                                   : writer.block_threads(kernel, 256, {128, 256, 512});
  const bool swizzled = writer.wants("swizzle");
  std::string pad = "0";
  if (swizzled) {
    kernel.claim("swizzle");
  } else if (writer.wants("avoid_bank_conflicts")) {
    pad = kernel.knob("KW_PAD_ONE", 1, {0, 1});
    kernel.claim("avoid_bank_conflicts");
  }
  std::vector<int> outer_dims;
  for (std::size_t d = 0; d < last; ++d)
    if (d != along) outer_dims.push_back(static_cast<int>(d));
  Shape outer_shape;
  for (const int d : outer_dims) outer_shape.push_back(shape[static_cast<std::size_t>(d)]);
  const std::int64_t outer_count = numel(outer_shape);
  const std::string across = blocks_for(shape[last], "KW_TILE"), down = blocks_for(shape[along], "KW_TILE");
  kernel.grid = fmt::format("{} * ({}) * ({})", outer_count, across, down);
  std::vector<std::string> tiles;
  for (const Turned& each : turned) {
    tiles.push_back(e.unique("tile"));
    e.line(tile_declaration(writer.cute, value_type(writer.graph.dtype(each.value)), tiles.back(), pad, swizzled));
  }
  e.line(fmt::format("constexpr int tiles_across = {}, tiles_down = {};", across, down));
  e.line("const int first_across = blockIdx.x % tiles_across * KW_TILE;");
  e.line("const int first_down = blockIdx.x / tiles_across % tiles_down * KW_TILE;");
  Index index(shape.size());
  if (!outer_dims.empty()) {
    const VarId outer = e.define("outer", "blockIdx.x / (tiles_across * tiles_down)", {0, outer_count - 1});
    const Index parts = e.unflatten(Affine::variable(outer), outer_shape);
    for (std::size_t i = 0; i < outer_dims.size(); ++i) index[static_cast<std::size_t>(outer_dims[i])] = parts[i];
  }
  // One pass over a tile, neighbouring threads along the dimension that `fast` is.
  const auto pass = [&](bool fast_down, const std::function<void()>& body) {
    e.open(fmt::format("for (int i = threadIdx.x; i < KW_TILE * KW_TILE; i += {}) {{", threads));
    e.line(fmt::format("const int wide = i {} KW_TILE, high = i {} KW_TILE;", fast_down ? "%" : "/", fast_down ? "/" : "%"));
    e.open(fmt::format("if (first_down + wide < {} && first_across + high < {}) {{", shape[along], shape[last]));
    index[along] = Affine::variable(e.define("down", "first_down + wide", {0, shape[along] - 1}));
    index[last] = Affine::variable(e.define("across", "first_across + high", {0, shape[last] - 1}));
    body();
    e.close();
    e.close();
  };
  const auto element = [&](std::size_t t) { return tile_element(writer.cute, tiles[t], pad, swizzled); };
  pass(true, [&] {
    for (std::size_t t = 0; t < turned.size(); ++t)
      e.line(fmt::format("{} = {};", element(t), e.emit(turned[t].value, index).text));
  });
  e.line("__syncthreads();");
  pass(false, [&] {
    for (std::size_t t = 0; t < turned.size(); ++t)
      e.provide(turned[t].value, index, {element(t), writer.graph.dtype(turned[t].value), false});
    store_roots(writer, kernel, stage, index);
  });
  kernel.claim("transpose_tile");
  writer.bound_registers(kernel);
  return writer.finish(kernel);
}

}  // namespace

const GpuFamily gpu_transpose_family{"transpose", write_transpose};

}  // namespace kw
