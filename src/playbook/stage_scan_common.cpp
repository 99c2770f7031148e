#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

constexpr const char* kEvery = R"(// p[0], p[stride], p[2 * stride], ...; reads nothing past the last of them.
template <int stride>
KW_INLINE kw_vec kw_every(const float* p) {
  if constexpr (stride == 1) return kw_load(p);
  if constexpr (stride == 2) {
    const kw_vec low = kw_load(p);
    const kw_vec high = kw_load(p + kw_lanes - 1);
#if defined(__AVX512F__)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
#elif defined(__AVX__)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 9, 11, 13, 15);
#else
    return __builtin_shufflevector(low, high, 0, 2, 5, 7);
#endif
  }
  return kw_gather(p, stride);
})";

}  // namespace

std::string roots_not_like_anchor(const StageWriter& writer, const Stage& stage) {
  const Shape& shape = writer.graph.shape(stage.anchor);
  for (const ValueId root : stage.roots)
    if (numel(writer.graph.shape(root)) != numel(shape)) return "a result of another size";
  return "";
}

void store_roots(StageWriter& writer, const Stage& stage, const Index& index, const Expr& value) {
  Emitter& emitter = writer.emitter;
  const Shape& shape = writer.graph.shape(stage.anchor);
  // A name of its own tells the emitter how deep the value lives.
  const bool alone = stage.roots.size() == 1 && stage.roots[0] == stage.anchor;
  const Expr here = alone ? value : emitter.named("here", value.text, value.dtype, value.vector, index);
  emitter.provide(stage.anchor, index, here);
  for (const ValueId root : stage.roots) {
    const Shape& own = writer.graph.shape(root);
    const Index at = own == shape ? index : emitter.unflatten(emitter.flatten(index, shape), own);
    emitter.store(writer.buffer(root), at, root == stage.anchor ? here : emitter.emit(root, at), streams_past_cache(writer, root),
                  true);
  }
}

Index open_flat_loop(StageWriter& writer, const std::string& hint, const Shape& shape, std::int64_t elements) {
  Emitter& emitter = writer.emitter;
  const std::int64_t count = numel(shape);
  if (count == 1) return Index(shape.size());
  const VarId var = emitter.open_loop(hint, count, writer.parallel_pragma(count, elements));
  return emitter.unflatten(Affine::variable(var), shape);
}

void close_flat_loop(StageWriter& writer, const Shape& shape) {
  if (numel(shape) != 1) writer.emitter.close();
}

VarId open_part(Emitter& emitter, const std::string& hint, std::int64_t extent, const std::string& begin, const std::string& end,
                bool vector) {
  const VarId var = emitter.variable(hint, extent, vector);
  emitter.open(fmt::format(fmt::runtime(vector ? "for (std::int64_t {0} = {1}; {0} + kw_lanes <= {2}; {0} += kw_lanes) {{"
                                               : "for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{"),
                           emitter.name(var), begin, end),
               {var});
  return var;
}

VarId open_vectors(Emitter& emitter, const std::string& hint, std::int64_t extent, std::int64_t begin, std::int64_t end) {
  if ((end - begin) % kMostLanes == 0 || end - begin < kMostLanes)
    return open_part(emitter, hint, extent, fmt::format("{}", begin), fmt::format("{}", end), true);
  emitter.need("least");
  const std::string step = emitter.unique("step");
  emitter.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; {0} += kw_lanes) {{", step, begin, end));
  return emitter.define(hint, fmt::format("kw_least({}, {} - kw_lanes)", step, end), {0, extent - 1}, true);
}

bool leaves_some(std::int64_t begin, std::int64_t end) { return end - begin < kMostLanes && (end - begin) % kMostLanes != 0; }

std::string vector_end(std::int64_t begin, std::int64_t end) {
  if ((end - begin) % kMostLanes == 0) return fmt::format("{}", end);
  if (begin == 0) return fmt::format("{0} - {0} % kw_lanes", end);
  return fmt::format("{} - {} % kw_lanes", end, end - begin);
}

void declare_every(StageWriter& writer) {
  writer.emitter.need("load");
  writer.emitter.need("gather");
  writer.declare(kEvery);
}

std::string strided_load(StageWriter& writer, ValueId value, const Index& index, VarId vector) {
  Emitter& emitter = writer.emitter;
  Index at = index;
  while (emitter.buffer_of(value) == nullptr && writer.graph.at(value).kind == ValueKind::view) {
    const Value& view = writer.graph.at(value);
    at = behind_view(view, at);
    value = view.operands[0];
  }
  const Value& source = writer.graph.at(value);
  const Buffer* buffer = emitter.buffer_of(value);
  if (buffer == nullptr && source.kind != ValueKind::argument) return "";
  if ((buffer != nullptr ? buffer->dtype : source.dtype) != DType::f32) return "";
  Affine position;
  if (buffer != nullptr) {
    position = emitter.flatten(at, source.shape);
  } else {
    for (std::size_t d = 0; d < at.size(); ++d) position = position + at[d] * (source.shape[d] == 1 ? 0 : source.strides[d]);
  }
  if (position.coefficient(vector) != 2) return "";
  declare_every(writer);
  return fmt::format("kw_every<2>({} + {})", buffer != nullptr ? buffer->name : source.name, emitter.text(position));
}

}  // namespace kw
