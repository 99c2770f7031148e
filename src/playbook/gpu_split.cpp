// Few results of long reductions: each reduction is shared out over blocks, whose partial results a second kernel joins. What is
// made of the reductions follows in a pointwise kernel, or in the last join.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_rows.h"
#include "playbook/loops.h"
#include "playbook/reach.h"

namespace kw {
namespace {

constexpr std::int64_t kShortReduction = 4096;  // elements that are not worth a second kernel
constexpr std::int64_t kShortColumn = 512;

struct SplitReduction {
  ValueId value = -1;
  std::int64_t results = 1;
  std::int64_t elements = 1;
  bool rows = true;  // its innermost dimension is reduced: blocks share a row; otherwise threads are side by side on columns
};

SplitReduction described(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  const Shape& shape = graph.shape(value.operands[0]);
  std::size_t last = shape.size() - 1;
  while (last > 0 && shape[last] == 1) --last;
  return {id, numel(value.shape), product_of(shape, value.dims), value.dims.back() >= static_cast<int>(last)};
}

// All reductions of the stage, in the order in which they can be computed; none: there is something that cannot be split.
std::vector<SplitReduction> reductions_to_split(const GpuWriter& writer, const Stage& stage) {
  std::set<ValueId> ids;
  bool split = true;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      if (writer.graph.at(at.value).kind != ValueKind::reduce || (at.value != root && stored(at.value))) return;
      if ((at.dims() & kReducedBit) != 0) split = false;
      ids.insert(at.value);
    });
  std::vector<SplitReduction> found;
  for (const ValueId id : ids) {
    const SplitReduction each = described(writer.graph, id);
    const bool few = each.rows ? each.results < 2 * writer.gpu.sms && each.elements >= kShortReduction
                               : each.results < std::int64_t{1024} * writer.gpu.sms && each.elements >= kShortColumn;
    if (!few || !is_floating(writer.graph.dtype(id))) split = false;
    found.push_back(each);
  }
  return split ? found : std::vector<SplitReduction>{};
}

// Parts for which the GPU has enough to do, each long enough for a block.
std::int64_t usual_parts(const GpuWriter& writer, const SplitReduction& of) {
  const std::int64_t blocks = of.rows ? of.results : (of.results + 127) / 128;
  const std::int64_t least = of.rows ? 1024 : 64;
  std::int64_t parts = 2;
  while (parts < 512 && parts * blocks < 4 * writer.gpu.sms && of.elements / (parts * 2) >= least) parts *= 2;
  return parts;
}

class SplitWriter {
 public:
  SplitWriter(GpuWriter& writer, const Stage& stage) : writer_(writer), stage_(stage), graph_(writer.graph) {}

  bool write(const std::vector<SplitReduction>& reductions) {
    for (const SplitReduction& each : reductions) {
      const bool last = each.value == reductions.back().value;
      const bool ends =
          last && std::ranges::all_of(stage_.roots, [&](ValueId root) { return graph_.shape(root) == graph_.shape(each.value); });
      const std::string partial =
          writer_.scratch("partial", value_type(sum_type(each)), fmt::format("KW_PARTS * {}", each.results));
      if (each.rows ? !(partial_rows(each, partial, true) || partial_rows(each, partial, false)) : !partial_columns(each, partial))
        return false;
      if (!join(each, partial, ends)) return false;
      if (ends) return true;
    }
    Stage rest = stage_;
    rest.has_reductions = false;
    return (writer_.cute ? cute_flat_family : gpu_flat_family).write(writer_, rest) || gpu_naive_family.write(writer_, rest);
  }

 private:
  [[nodiscard]] DType sum_type(const SplitReduction& of) const {
    return graph_.dtype(of.value) == DType::f64 ? DType::f64 : DType::f32;
  }

  GpuKernel opened(const SplitReduction& of, const char* name) {
    GpuKernel kernel = writer_.kernel(name);
    kernel.knob("KW_PARTS", usual_parts(writer_, of), {2, 4, 8, 16, 32, 64, 128, 256, 512});
    kernel.claim("split_rows");
    return kernel;
  }

  // Where the elements of a part start and end.
  static void define_share(Emitter& e, const SplitReduction& of, const char* part, int lanes) {
    e.line(fmt::format("constexpr {0} share = ({1} + KW_PARTS * {2} - 1) / (KW_PARTS * {2}) * {2};", e.index_type, of.elements,
                       lanes));
    e.line(fmt::format("const {0} part_begin = {1} * share;", e.index_type, part));
    e.line(fmt::format("const {0} part_end = part_begin + share < {1} ? part_begin + share : {1};", e.index_type, of.elements));
  }

  bool partial_rows(const SplitReduction& of, const std::string& partial, bool vector) {
    if (vector && !writer_.wants_vectors()) return false;
    GpuKernel kernel = opened(of, "partial_rows");
    Emitter& e = kernel.e;
    const std::string threads = writer_.block_threads(kernel, 256, {128, 256, 512});
    kernel.grid = fmt::format("dim3(KW_PARTS, {})", of.results);
    define_share(e, of, "blockIdx.x", vector ? 4 : 1);
    const VarId row = e.define("row", "blockIdx.y", {0, of.results - 1});
    e.row_group.loop = row_loop(kernel, {"threadIdx.x", threads, vector, false, "part_begin", "part_end"});
    e.row_group.vector = vector;
    e.row_group.depth = e.depth();
    join_block(kernel, threads);
    const Expr value = e.emit(of.value, e.unflatten(Affine::variable(row), graph_.shape(of.value)));
    e.line(fmt::format("if (threadIdx.x == 0) {}[{} * KW_PARTS + blockIdx.x] = {};", partial, e.name(row), value.text));
    if (vector) kernel.claim("vector_load");
    return writer_.finish(kernel);
  }

  bool partial_columns(const SplitReduction& of, const std::string& partial) {
    GpuKernel kernel = opened(of, "partial_columns");
    Emitter& e = kernel.e;
    const std::string threads = writer_.block_threads(kernel, 128, {64, 128, 256});
    kernel.grid = fmt::format("dim3({}, KW_PARTS)", blocks_for(of.results, threads));
    define_share(e, of, "blockIdx.y", 1);
    const VarId column = e.define("column", fmt::format("blockIdx.x * {} + threadIdx.x", threads), {0, of.results - 1});
    e.line(fmt::format("if ({} >= {}) return;", e.name(column), of.results));
    const Expr value =
        e.reduce_part(of.value, e.unflatten(Affine::variable(column), graph_.shape(of.value)), {}, "part_begin", "part_end");
    e.line(fmt::format("{}[blockIdx.y * {} + {}] = {};", partial, of.results, e.name(column), value.text));
    return writer_.finish(kernel);
  }

  void join_block(GpuKernel& kernel, const std::string& threads) const {
    const bool shuffles = writer_.wants("warp_reduce");
    kernel.e.row_group.join = "kw_block_join<" + threads + ">({1}, kw_join_{0}())";
    kernel.pieces.insert(shuffles ? "block_shuffle_join" : "block_tree_join");
    if (shuffles) kernel.claim("warp_reduce");
  }

  // The parts of a result as one; `ends`: and the outputs from it.
  bool join(const SplitReduction& of, const std::string& partial, bool ends) {
    GpuKernel kernel = opened(of, "join_parts");
    Emitter& e = kernel.e;
    const std::string fn = graph_.at(of.value).fn;
    const DType type = sum_type(of);
    const std::string at = of.rows ? "i * KW_PARTS + part" : fmt::format("part * {} + i", of.results);
    const Expr next{fmt::format("{}[{}]", partial, at), type, false};
    const std::string all = e.unique("all");
    if (of.rows) {
      kernel.threads = "128";
      kernel.grid = fmt::format("{}", of.results);
      e.line("const int i = blockIdx.x;");
    } else {
      kernel.threads = "128";
      kernel.grid = blocks_for(of.results, "128");
      e.line(fmt::format("const int i = blockIdx.x * 128 + threadIdx.x;\nif (i >= {}) return;", of.results));
    }
    e.line(fmt::format("{} {} = {};", value_type(type), all, Emitter::identity(fn, type)));
    e.open(
        fmt::format("for (int part = {}; part < KW_PARTS; part += {}) {{", of.rows ? "threadIdx.x" : "0", of.rows ? "128" : "1"));
    e.line(fmt::format("{} = {};", all, e.combine(fn, {all, type, false}, next).text));
    e.close();
    if (of.rows) {
      join_block(kernel, "128");
      e.line(fmt::format("{} = {};", all, fmt::format(fmt::runtime(e.row_group.join), fn, all)));
      e.line("if (threadIdx.x != 0) return;");
    }
    const Shape& shape = graph_.shape(of.value);
    const Index index = e.unflatten(Affine::variable(e.define("result", "i", {0, of.results - 1})), shape);
    const Expr joined = e.converted({all, type, false}, graph_.dtype(of.value));
    if (ends) {
      e.provide(of.value, index, joined);
      store_roots(writer_, kernel, stage_, index);
      return writer_.finish(kernel);
    }
    const std::string name = writer_.scratch("joined", c_type(graph_.dtype(of.value)), fmt::format("{}", of.results));
    const Buffer buffer{name, graph_.dtype(of.value), shape, false, {}};
    e.store(buffer, index, joined);
    if (!writer_.finish(kernel)) return false;
    writer_.remember(of.value, buffer);
    return true;
  }

  GpuWriter& writer_;
  const Stage& stage_;
  const Graph& graph_;
};

bool write_split(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || !stage.has_reductions || !writer.wants("split_rows")) return false;
  const auto reductions = reductions_to_split(writer, stage);
  return !reductions.empty() && SplitWriter(writer, stage).write(reductions);
}

}  // namespace

const GpuFamily gpu_split_family{"split", write_split};

}  // namespace kw
