// Pointwise stages in one pass: neighbouring threads on neighbouring elements, four of them at a time, several times a thread.
#include <fmt/format.h>

#include "playbook/gpu_stage.h"

namespace kw {
namespace {

struct FlatForm {
  bool vector = false;
  bool unrolled = false;    // several pieces a thread
  bool persistent = false;  // as many blocks as the GPU holds, each going over the whole
};

void write_at(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, VarId j) {
  const Shape& shape = writer.graph.shape(stage.roots[0]);
  store_roots(writer, kernel, stage, kernel.e.unflatten(Affine::variable(j), shape));
}

// The elements from a position on, of which the last may be fewer than a vector.
void write_piece(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const std::string& position, bool vector) {
  Emitter& e = kernel.e;
  const std::int64_t count = numel(writer.graph.shape(stage.roots[0]));
  if (!vector || count % writer.most_lanes() == 0) {
    e.open(fmt::format("if ({} < {}) {{", position, count));
    write_at(writer, kernel, stage, e.define("j", position, {0, count - 1}, vector));
    e.close();
    return;
  }
  e.open(fmt::format("if ({} + kw_lanes <= {}) {{", position, count));
  write_at(writer, kernel, stage, e.define("j", position, {0, count - 1}, true));
  e.close("} else {");
  const VarId rest = e.variable("j", count);
  e.open(fmt::format("for ({2} {0} = {1}; {0} < {3}; ++{0}) {{", e.name(rest), position, e.index_type, count), {rest});
  write_at(writer, kernel, stage, rest);
  e.close();
  e.line("}");
}

bool attempt(GpuWriter& writer, const Stage& stage, const FlatForm& form) {
  const std::int64_t count = numel(writer.graph.shape(stage.roots[0]));
  GpuKernel kernel = writer.kernel("pointwise");
  Emitter& e = kernel.e;
  const std::string threads = writer.block_threads(kernel, 256, {64, 128, 256, 512});
  const std::string step = form.vector ? threads + " * kw_lanes" : threads;
  const std::string lane = form.vector ? "threadIdx.x * kw_lanes" : "threadIdx.x";
  const std::string type(e.index_type);
  std::string each = step;
  if (form.unrolled) each = fmt::format("{} * {}", kernel.knob("KW_ITEMS", 4, {2, 4, 8}), step);
  const std::string first = e.unique("first");
  if (form.persistent) {
    kernel.claim("persistent");
    const std::string blocks = kernel.knob("KW_WAVES", 4, {1, 2, 4, 8});
    kernel.grid = fmt::format("{} * {}", writer.gpu.sms, blocks);
    e.open(fmt::format("for ({0} {1} = {0}(blockIdx.x) * {2}; {1} < {3}; {1} += {0}(gridDim.x) * {2}) {{", type, first,
                       form.unrolled ? "(" + each + ")" : each, count));
  } else {
    kernel.grid = blocks_for(count, each);
    e.line(fmt::format("const {0} {1} = {0}(blockIdx.x) * {2};", type, first, each));
  }
  const std::string start = e.unique("start");
  if (form.unrolled) {
    kernel.claim("unroll_items");
    const std::string item = e.unique("item");
    e.open(fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < KW_ITEMS; ++{0}) {{", item));
    e.line(fmt::format("const {} {} = {} + {} * {} + {};", type, start, first, item, step, lane));
  } else {
    e.line(fmt::format("const {} {} = {} + {};", type, start, first, lane));
  }
  write_piece(writer, kernel, stage, start, form.vector);
  if (form.unrolled) e.close();
  if (form.persistent) e.close();
  if (form.vector) kernel.claim("vector_load");
  writer.bound_registers(kernel);
  return writer.finish(kernel);
}

bool write_flat(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || stage.has_reductions) return false;
  const std::int64_t count = numel(writer.graph.shape(stage.roots[0]));
  FlatForm form{writer.wants_vectors(), writer.wants("unroll_items"), writer.wants("persistent")};
  // Too few elements for several a thread leave most of the GPU idle.
  const std::int64_t resident = static_cast<std::int64_t>(writer.gpu.sms) * writer.gpu.max_threads_per_sm;
  if (count < 2 * resident) form.unrolled = form.persistent = false;
  if (!form.vector && !form.unrolled && !form.persistent) return false;
  if (form.vector && attempt(writer, stage, form)) return true;
  form.vector = false;
  return (form.unrolled || form.persistent) && attempt(writer, stage, form);
}

}  // namespace

const GpuFamily gpu_flat_family{"flat", write_flat};

}  // namespace kw
