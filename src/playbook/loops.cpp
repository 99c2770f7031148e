#include "playbook/loops.h"

#include <fmt/format.h>

namespace kw {

std::int64_t product_of(const Shape& shape, const std::vector<int>& dims) { return numel(shape_of_dims(shape, dims)); }

Shape shape_of_dims(const Shape& shape, const std::vector<int>& dims) {
  Shape result;
  for (const int d : dims) result.push_back(shape[static_cast<std::size_t>(d)]);
  return result;
}

Index with_dims(Index index, const std::vector<int>& dims, const Index& parts) {
  for (std::size_t i = 0; i < dims.size(); ++i) index[static_cast<std::size_t>(dims[i])] = parts[i];
  return index;
}

std::vector<Target> targets_of(const StageWriter& writer, ValueId root, int first_inner) {
  const Value& value = writer.graph.at(root);
  const Index none(value.shape.size());
  if (value.kind != ValueKind::concat || value.dims[0] < first_inner) return {{root, root, none}};
  std::vector<Target> targets;
  std::int64_t start = 0;
  for (const ValueId operand : value.operands) {
    Index offset = none;
    offset[static_cast<std::size_t>(value.dims[0])] = Affine(start);
    targets.push_back({operand, root, offset});
    start += writer.graph.shape(operand)[static_cast<std::size_t>(value.dims[0])];
  }
  return targets;
}

bool large_output(const StageWriter& writer, ValueId root) {
  constexpr std::int64_t kLargeBytes = 4 << 20;
  const Buffer& buffer = writer.buffer(root);
  return writer.wants("stream_stores") && buffer.output && !writer.plan.read_again.contains(root) &&
         !writer.plan.written_over.contains(root) &&
         numel(buffer.shape) * static_cast<std::int64_t>(size_of(buffer.dtype)) >= kLargeBytes;
}

bool streams_past_cache(const StageWriter& writer, ValueId root) {
  const bool kept = writer.emitter.buffer_of(root) != nullptr;
  return large_output(writer, root) && (kept || !writer.plan.read_back.contains(root));
}

void store_targets(StageWriter& writer, const std::vector<Target>& targets, const Index& index) {
  for (const auto& target : targets) {
    const Buffer& buffer = writer.buffer(target.root);
    const Expr value = writer.emitter.emit(target.value, index);
    Index at = index;
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = at[d] + target.offset[d];
    writer.emitter.store(buffer, at, value, streams_past_cache(writer, target.root));
  }
}

static void prefetch_knob(StageWriter& writer) { writer.knob("KW_PREFETCH", 512, {256, 512, 1024, 2048}); }

void ask_ahead(StageWriter& writer) {
  if (!writer.wants("prefetch_ahead")) return;
  writer.emitter.prefetch = "KW_PREFETCH";
  prefetch_knob(writer);
}

void write_vector_loop(StageWriter& writer, std::int64_t count, const std::string& begin, const std::string& end,
                       const std::function<void(VarId)>& body) {
  Emitter& e = writer.emitter;
  const bool unroll = writer.use("unroll_inner");
  if (unroll) {
    writer.knob("KW_UNROLL", 4, {2, 4, 8});
    writer.declare("constexpr int kw_unroll = KW_UNROLL;");
  }
  const VarId j = e.variable("j", count, true);
  e.need("vec");
  e.open(fmt::format("{3}for (std::int64_t {0} = {1}; {0} + kw_lanes <= {2}; {0} += kw_lanes) {{", e.name(j), begin, end,
                     unroll ? "#pragma GCC unroll kw_unroll\n" : ""),
         {j});
  ask_ahead(writer);
  body(j);
  e.end_of_row_pass(j);
  e.prefetch.clear();
  e.close();
  writer.use("explicit_vectors");
  if (count % kMostLanes == 0) return;
  const auto masked = [&] {
    body(e.open_tail(count));
    e.close_tail();
  };
  if (begin == "0" && writer.wants("masked_tails") && writer.attempt(masked)) return;
  const VarId rest = e.variable("j", count);
  const std::string start = begin == "0" ? fmt::format("{} / kw_lanes * kw_lanes", end)
                                         : fmt::format("{0} + ({1} - {0}) / kw_lanes * kw_lanes", begin, end);
  e.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", e.name(rest), start, end), {rest});
  body(rest);
  e.close();
}

void write_inner_loops(StageWriter& writer, const std::vector<Target>& targets, const Index& index, const std::vector<int>& dims,
                       InnerForm form) {
  Emitter& e = writer.emitter;
  const Shape& shape = writer.graph.shape(targets[0].value);
  const Shape inner = shape_of_dims(shape, dims);
  const std::int64_t count = numel(inner);
  constexpr std::int64_t kFewForVectors = 4;
  if (form == InnerForm::one_vector && count < kFewForVectors) e.set_trouble("too few for vectors");
  if (form != InnerForm::scalar && (count >= kFewForVectors || form == InnerForm::one_vector)) {
    // The first dimensions one by one, the others as one vector loop: as few loops as have a form.
    const auto nested = [&](std::size_t loops) {
      Index parts;
      for (std::size_t i = 0; i < loops; ++i) parts.push_back(Affine::variable(e.open_loop("k", inner[i])));
      const Shape together(inner.begin() + static_cast<std::ptrdiff_t>(loops), inner.end());
      const std::int64_t own = numel(together);
      write_vector_loop(writer, own, "0", fmt::format("{}", own), [&](VarId j) {
        Index all = parts;
        const Index last = e.unflatten(Affine::variable(j), together);
        all.insert(all.end(), last.begin(), last.end());
        store_targets(writer, targets, with_dims(index, dims, all));
      });
      for (std::size_t i = 0; i < loops; ++i) e.close();
    };
    if (form == InnerForm::one_vector) return nested(0);
    std::int64_t own = count;
    for (std::size_t loops = 0; loops < inner.size() && own >= kFewForVectors; own /= inner[loops++])
      if (writer.attempt([&] { nested(loops); })) return;
  }
  Index parts;
  for (const auto size : inner) parts.push_back(Affine::variable(e.open_loop("k", size)));
  store_targets(writer, targets, with_dims(index, dims, parts));
  for (std::size_t i = 0; i < inner.size(); ++i) e.close();
}

ReduceStyle wanted_reduce_style(StageWriter& writer) {
  ReduceStyle style;
  style.vector = writer.wants("explicit_vectors");
  if (!style.vector) return style;
  if (writer.wants("multiple_accumulators")) style.accumulators = "KW_ACCUMULATORS";
  if (writer.wants("blocked_sums")) style.block = "KW_BLOCK";
  style.unroll = writer.wants("unroll_inner");
  style.masked_tails = writer.wants("masked_tails");
  return style;
}

void claim_emitted(StageWriter& writer) {
  for (const auto& strategy : writer.emitter.used()) {
    writer.claim(strategy);
    if (strategy == "multiple_accumulators") writer.knob("KW_ACCUMULATORS", 4, {2, 4, 8});
    if (strategy == "blocked_sums") writer.knob("KW_BLOCK", 1024, {256, 1024, 4096});
    if (strategy == "unroll_inner") {
      writer.knob("KW_UNROLL", 4, {2, 4, 8});
      writer.declare("constexpr int kw_unroll = KW_UNROLL;");
    }
    if (strategy == "prefetch_ahead") prefetch_knob(writer);
  }
}

}  // namespace kw
