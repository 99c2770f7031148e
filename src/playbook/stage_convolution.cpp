// The family of convolutions: chooses how one is written. Plain loops are here.
#include "playbook/convolution.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

bool is_narrow_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

std::string convolution_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::convolution) return "no convolution";
  if (!writer.wants("convolution_tile") && !writer.wants("parallel_outer")) return "no strategy for convolutions is wanted";
  return roots_not_like_anchor(writer, stage);
}

void convolution_write(StageWriter& writer, const Stage& stage) {
  const Value& value = writer.graph.at(stage.anchor);
  bool tiles = writer.wants("convolution_tile") && writer.wants("explicit_vectors") && is_narrow_float(value.dtype);
  for (const ValueId operand : value.operands) tiles = tiles && is_narrow_float(writer.graph.dtype(operand));
  for (const WindowDim& dim : value.window) tiles = tiles && (dim.up == 1 || dim.stride == 1);
  if (tiles) {
    const ConvolutionFacts facts = convolution_facts(writer.graph, stage.anchor);
    const bool winograd = writer.wants("winograd") && writer.wants("prepack_weights") && suits_winograd(writer, facts);
    const auto write = winograd ? write_winograd_convolution : write_tiled_convolution;
    for (const bool vectors : {true, false})
      if (writer.attempt([&] { write(writer, stage, facts, vectors); })) return;
  }
  write_plain_convolution(writer, stage);
}

}  // namespace

void write_plain_convolution(StageWriter& writer, const Stage& stage) {
  Emitter& emitter = writer.emitter;
  const Shape& shape = writer.graph.shape(stage.anchor);
  const auto work = static_cast<std::int64_t>(convolution_facts(writer.graph, stage.anchor).multiplications());
  const Shape rows(shape.begin(), shape.end() - 1);
  Index index = open_flat_loop(writer, "row", rows, work);
  index.push_back(Affine::variable(emitter.open_loop("column", shape.back())));
  store_roots(writer, stage, index, emitter.emit(stage.anchor, index));
  if (stage.roots[0] != stage.anchor) writer.use("fuse_epilogue");
  emitter.close();
  close_flat_loop(writer, rows);
}

const Family convolution_family{"convolution", convolution_why_not, convolution_write};

}  // namespace kw
