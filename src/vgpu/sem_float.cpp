// Names of floating point instructions, exact and approximate.
#include "vgpu/sem_modifiers.h"

namespace kw::vgpu {
namespace {

Pipe pipe_of(Type type) {
  if (type == Type::f64) return Pipe::fp64;
  return type == Type::f32 || type == Type::f32x2 ? Pipe::fp32 : Pipe::fp16;
}
std::uint32_t values_in(Type type) { return type == Type::f16x2 || type == Type::bf16x2 || type == Type::f32x2 ? 2 : 1; }

struct FloatName {
  std::string_view opcode;
  FloatOp exact, approximate;  // the same where there is one form only
  int sources;
  std::uint32_t flops;
  bool needs_approx = false, needs_choice = false;  // .approx only; .approx or a direction
};
constexpr FloatName kFloatNames[] = {
    {"add", FloatOp::add, FloatOp::add, 2, 1},
    {"sub", FloatOp::sub, FloatOp::sub, 2, 1},
    {"mul", FloatOp::mul, FloatOp::mul, 2, 1},
    {"fma", FloatOp::fma, FloatOp::fma, 3, 2},
    {"mad", FloatOp::fma, FloatOp::fma, 3, 2},
    {"abs", FloatOp::abs, FloatOp::abs, 1, 0},
    {"neg", FloatOp::neg, FloatOp::neg, 1, 0},
    {"min", FloatOp::min, FloatOp::min, 2, 0},
    {"max", FloatOp::max, FloatOp::max, 2, 0},
    {"div", FloatOp::div, FloatOp::div_approx, 2, 1, false, true},
    {"rcp", FloatOp::rcp, FloatOp::rcp_approx, 1, 1, false, true},
    {"sqrt", FloatOp::sqrt, FloatOp::sqrt_approx, 1, 1, false, true},
    {"rsqrt", FloatOp::rsqrt_approx, FloatOp::rsqrt_approx, 1, 1, true},
    {"ex2", FloatOp::ex2, FloatOp::ex2, 1, 1, true},
    {"lg2", FloatOp::lg2, FloatOp::lg2, 1, 1, true},
    {"sin", FloatOp::sin, FloatOp::sin, 1, 1, true},
    {"cos", FloatOp::cos, FloatOp::cos, 1, 1, true},
    {"tanh", FloatOp::tanh, FloatOp::tanh, 1, 1, true},
};

bool has_direction(FloatOp op) { return op == FloatOp::add || op == FloatOp::sub || op == FloatOp::mul || op == FloatOp::fma; }
bool is_extremum(FloatOp op) { return op == FloatOp::min || op == FloatOp::max; }

}  // namespace

Semantics find_float(std::string_view opcode, Modifiers modifiers) {
  const auto* row =
      std::find_if(std::begin(kFloatNames), std::end(kFloatNames), [&](const auto& name) { return name.opcode == opcode; });
  if (row == std::end(kFloatNames)) return {};
  const bool approx = modifiers.take("approx"), full = modifiers.take("full");
  const FloatMode mode = modifiers.take_float_mode();
  const Type type = modifiers.take_type();
  if (!modifiers.empty() || !is_float_type(type)) return {};
  const bool directed = mode.round == Round::rn || mode.round == Round::rz || mode.round == Round::rm || mode.round == Round::rp;
  // One of the forms has to be named, and no other.
  if (row->needs_approx && (!approx || full || mode.round != Round::none)) return {};
  if (row->needs_choice && (approx ? 1 : 0) + (full ? 1 : 0) + (directed ? 1 : 0) != 1) return {};
  if (full && opcode != "div") return {};
  if (!row->needs_approx && !row->needs_choice && (approx || full)) return {};
  if (!row->needs_choice && mode.round != Round::none && !(directed && has_direction(row->exact))) return {};
  if ((mode.nan || mode.xorsign) && !is_extremum(row->exact)) return {};
  if (mode.sat && !has_direction(row->exact)) return {};
  if (mode.relu && row->exact != FloatOp::fma) return {};

  LaneFn lane = nullptr;
  Pipe pipe = pipe_of(type);
  if (approx) {
    lane = KW_HOT(special_lane)(row->approximate, type, mode);
    pipe = Pipe::special;
  } else if (type == Type::f32 || type == Type::f64 || type == Type::f32x2) {
    lane = KW_HOT(float_lane)(row->exact, type, mode);  // div.full is the nearest quotient, which is closer than it has to be
  } else {
    lane = KW_HOT(half_lane)(row->exact, type, mode);
  }
  const std::uint32_t flops = row->flops * values_in(type);
  if (row->sources == 1) return lane_semantics(lane, type, {type}, pipe, flops);
  if (row->sources == 2) return lane_semantics(lane, type, {type, type}, pipe, flops);
  return lane_semantics(lane, type, {type, type, type}, pipe, flops);
}

}  // namespace kw::vgpu
