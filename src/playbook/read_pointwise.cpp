// Arithmetic, comparisons, logic, casts and tensors of one value, with PyTorch's type promotion.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "playbook/read.h"

namespace kw {
namespace {

// Numbers for 16-bit tensors are not rounded to 16 bits before use.
ValueId as_operand(const NodeReader& node, ValueId operand, DType dtype) {
  const bool number = node.graph.shape(operand).empty() && node.graph.at(operand).kind != ValueKind::argument;
  if (number && (dtype == DType::f16 || dtype == DType::bf16)) return node.graph.cast(operand, DType::f32);
  return node.graph.cast(operand, dtype);
}

// The type in which two operands are compared: numbers and tensors of one element do not widen tensors of their own kind.
DType compared_type(const NodeReader& node) {
  const DType a = node.graph.dtype(node.operand(0));
  const DType b = node.graph.dtype(node.operand(1));
  if (!node.is_tensor(1)) return a == DType::boolean && !is_floating(b) ? b : is_floating(a) || !is_floating(b) ? a : DType::f32;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (a == DType::boolean || b == DType::boolean) return a == DType::boolean ? b : a;
  const bool a_spreads = node.graph.shape(node.operand(0)).empty(), b_spreads = node.graph.shape(node.operand(1)).empty();
  if (a_spreads != b_spreads) return a_spreads ? b : a;
  if (a != b && size_of(a) == size_of(b))
    return is_floating(a) ? DType::f32 : DType::i16;  // two of 16 bits; a signed and an unsigned byte
  return size_of(a) >= size_of(b) ? a : b;
}

template <const char* Fn>
NodeValues read_unary(const NodeReader& node) {
  return {node.graph.pointwise(Fn, {node.graph.cast(node.tensor(0), node.dtype())}, node.dtype())};
}

template <const char* Fn>
NodeValues read_binary(const NodeReader& node) {
  const DType dtype = node.dtype();
  return {node.graph.pointwise(Fn, {as_operand(node, node.operand(0), dtype), as_operand(node, node.operand(1), dtype)}, dtype)};
}

template <const char* Fn>
NodeValues read_comparison(const NodeReader& node) {
  const DType dtype = compared_type(node);
  return {
      node.graph.pointwise(Fn, {node.graph.cast(node.operand(0), dtype), node.graph.cast(node.operand(1), dtype)}, DType::boolean)};
}

template <const char* Fn>
NodeValues read_logical(const NodeReader& node) {
  return {node.graph.pointwise(
      Fn, {node.graph.cast(node.operand(0), DType::boolean), node.graph.cast(node.operand(1), DType::boolean)}, DType::boolean)};
}

// a + alpha * b, a - alpha * b; `turned`: rsub.
NodeValues sum_with_factor(const NodeReader& node, const char* fn, bool turned) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  ValueId a = as_operand(node, node.operand(0), dtype);
  ValueId b = as_operand(node, node.operand(1), dtype);
  if (turned) std::swap(a, b);
  double alpha = 1;
  if (const Json* given = node.keyword("alpha"); given != nullptr && given->contains("const"))
    alpha = (*given)["const"].get<double>();
  if (turned && !node.is_none(2)) alpha = node.number(2);
  if (alpha != 1) b = graph.pointwise("mul", {b, graph.constant(alpha, dtype)}, dtype);
  return {graph.pointwise(fn, {a, b}, dtype)};
}

NodeValues read_add(const NodeReader& node) { return sum_with_factor(node, "add", false); }
NodeValues read_sub(const NodeReader& node) { return sum_with_factor(node, "sub", false); }
NodeValues read_rsub(const NodeReader& node) { return sum_with_factor(node, "sub", true); }

NodeValues read_div_mode(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const ValueId a = graph.cast(node.operand(0), dtype);
  const ValueId b = graph.cast(node.operand(1), dtype);
  const Json* mode = node.keyword("rounding_mode");
  const std::string name =
      mode != nullptr && mode->contains("const") && (*mode)["const"].is_string() ? (*mode)["const"].get<std::string>() : "";
  if (name.empty()) return {graph.pointwise("div", {a, b}, dtype)};
  if (!is_floating(dtype)) return {graph.pointwise(name == "floor" ? "floor_div" : "div", {a, b}, dtype)};
  return {graph.pointwise(name == "floor" ? "floor" : "trunc", {graph.pointwise("div", {a, b}, dtype)}, dtype)};
}

// What is left of a division: with the sign of the first (fmod), or of the second (remainder).
NodeValues read_remainder(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const bool floored = node.op().starts_with("aten.remainder");
  const ValueId a = as_operand(node, node.operand(0), dtype);
  const ValueId b = as_operand(node, node.operand(1), dtype);
  if (!is_floating(dtype)) {
    const ValueId times = graph.pointwise(floored ? "floor_div" : "div", {a, b}, dtype);
    return {graph.pointwise("sub", {a, graph.pointwise("mul", {times, b}, dtype)}, dtype)};
  }
  const ValueId rest = graph.pointwise("fmod", {a, b}, dtype);
  if (!floored) return {rest};
  const ValueId zero = graph.constant(0, dtype);
  const auto is_negative = [&](ValueId x) { return graph.pointwise("lt", {x, zero}, DType::boolean); };
  const ValueId other_sign = graph.pointwise("xor", {is_negative(rest), is_negative(b)}, DType::boolean);
  const ValueId once_more =
      graph.pointwise("and", {graph.pointwise("ne", {rest, zero}, DType::boolean), other_sign}, DType::boolean);
  return {graph.pointwise("where", {once_more, graph.pointwise("add", {rest, b}, dtype), rest}, dtype)};
}

NodeValues read_floor_divide(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const std::vector<ValueId> operands = {as_operand(node, node.operand(0), dtype), as_operand(node, node.operand(1), dtype)};
  if (!is_floating(dtype)) return {graph.pointwise("floor_div", operands, dtype)};
  return {graph.pointwise("floor", {graph.pointwise("div", operands, dtype)}, dtype)};
}

NodeValues read_pow(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const ValueId base = as_operand(node, node.operand(0), dtype);
  if (!node.is_tensor(1) && node.argument(1).contains("const")) {
    const double exponent = node.number(1);
    if (exponent == 1) return {base};
    if (exponent == 2) return {graph.pointwise("square", {base}, dtype)};
    if (exponent == 3) return {graph.pointwise("mul", {graph.pointwise("square", {base}, dtype), base}, dtype)};
    if (exponent == 0.5) return {graph.pointwise("sqrt", {base}, dtype)};
    if (exponent == -0.5) return {graph.pointwise("rsqrt", {base}, dtype)};
    if (exponent == -1) return {graph.pointwise("reciprocal", {base}, dtype)};
  }
  if (!is_floating(dtype)) throw ReadError{"powers of whole numbers"};
  return {graph.pointwise("pow", {base, as_operand(node, node.operand(1), dtype)}, dtype)};
}

NodeValues read_clamp(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  ValueId x = graph.cast(node.tensor(0), dtype);
  if (!node.is_none(1)) x = graph.pointwise("maximum", {x, as_operand(node, node.operand(1), dtype)}, dtype);
  if (!node.is_none(2)) x = graph.pointwise("minimum", {x, as_operand(node, node.operand(2), dtype)}, dtype);
  return {x};
}

// Shifts of whole numbers by what may be negative or more than there are bits: nothing is left then, or the sign.
NodeValues read_shift(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  if (is_floating(dtype)) throw ReadError{"shifts of floats"};
  const ValueId x = graph.cast(node.operand(0), dtype), by = graph.cast(node.operand(1), dtype);
  const bool left = node.op().find("left") != std::string::npos || node.op().find("lshift") != std::string::npos;
  const auto bits = static_cast<double>(8 * size_of(dtype));
  const ValueId most = graph.constant(bits - (left || dtype != DType::u8 ? 1 : 0), dtype), zero = graph.constant(0, dtype);
  const auto whether = [&](const char* fn, ValueId limit) { return graph.pointwise(fn, {by, limit}, DType::boolean); };
  const ValueId outside = graph.pointwise("or", {whether("lt", zero), whether("gt", most)}, DType::boolean);
  const ValueId inside = graph.pointwise("where", {outside, most, by}, dtype);
  if (!left) return {graph.pointwise("shr", {x, inside}, dtype)};
  return {graph.pointwise("where", {outside, zero, graph.pointwise("shl", {x, inside}, dtype)}, dtype)};
}

NodeValues read_not(const NodeReader& node) {
  const bool logical = node.op().starts_with("aten.logical");
  const DType dtype = logical ? DType::boolean : node.dtype();
  return {node.graph.pointwise("not", {node.graph.cast(node.tensor(0), dtype)}, dtype)};
}

NodeValues read_where(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  return {graph.pointwise("where",
                          {graph.cast(node.tensor(0), DType::boolean), as_operand(node, node.operand(1), dtype),
                           as_operand(node, node.operand(2), dtype)},
                          dtype)};
}

NodeValues read_masked_fill(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  return {graph.pointwise("where", {graph.cast(node.tensor(1), DType::boolean), graph.cast(node.operand(2), dtype), node.tensor(0)},
                          dtype)};
}

NodeValues read_cast(const NodeReader& node) { return {node.graph.cast(node.tensor(0), node.dtype())}; }
NodeValues read_same(const NodeReader& node) { return {node.tensor(0)}; }

NodeValues read_dropout(const NodeReader& node) {
  if (node.boolean(2)) throw ReadError{"dropout that drops"};
  return {node.tensor(0)};
}

NodeValues read_filled(const NodeReader& node) {
  const std::string op = node.op();
  double number = op.find("ones") != std::string::npos ? 1 : 0;
  if (op.find("full") != std::string::npos) number = node.number(op.find("new_full") != std::string::npos ? 2 : 1);
  if (op.find("scalar_tensor") != std::string::npos) number = node.number(0);
  return {node.graph.expand(node.graph.constant(number, node.dtype()), node.shape())};
}

NodeValues read_arange(const NodeReader& node) {
  Graph& graph = node.graph;
  const std::string op = node.op();
  const bool from_start = op != "aten.arange.default";
  const double start = from_start ? node.number(0) : 0;
  const double step = op == "aten.arange.start_step" ? node.number(2) : 1;
  const DType dtype = node.dtype();
  const ValueId position = graph.cast(graph.iota(node.shape().at(0)), dtype);
  const ValueId scaled = step == 1 ? position : graph.pointwise("mul", {position, graph.constant(step, dtype)}, dtype);
  return {start == 0 ? scaled : graph.pointwise("add", {scaled, graph.constant(start, dtype)}, dtype)};
}

NodeValues read_lerp(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const ValueId distance = graph.pointwise("sub", {node.tensor(1), node.tensor(0)}, dtype);
  return {graph.pointwise(
      "add", {node.tensor(0), graph.pointwise("mul", {as_operand(node, node.operand(2), dtype), distance}, dtype)}, dtype)};
}

// addcmul, addcdiv: a + value * (b * c), a + value * (b / c).
NodeValues read_addc(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const char* fn = node.op().starts_with("aten.addcdiv") ? "div" : "mul";
  const Json* value = node.keyword("value");
  const double factor = value != nullptr && value->contains("const") ? (*value)["const"].get<double>() : 1;
  ValueId term = graph.pointwise(fn, {node.tensor(1), node.tensor(2)}, dtype);
  term = graph.pointwise("mul", {term, graph.constant(factor, dtype)}, dtype);
  return {graph.pointwise("add", {node.tensor(0), term}, dtype)};
}

constexpr char kMul[] = "mul", kDiv[] = "div", kNeg[] = "neg", kAbs[] = "abs", kSqrt[] = "sqrt", kRsqrt[] = "rsqrt", kExp[] = "exp",
               kExp2[] = "exp2", kExpm1[] = "expm1", kLog[] = "log", kLog2[] = "log2", kLog1p[] = "log1p", kSin[] = "sin",
               kCos[] = "cos", kErf[] = "erf", kErfc[] = "erfc", kFloor[] = "floor", kCeil[] = "ceil", kRound[] = "round",
               kTrunc[] = "trunc", kSign[] = "sign", kSquare[] = "square", kReciprocal[] = "reciprocal", kMaximum[] = "maximum",
               kMinimum[] = "minimum", kLt[] = "lt", kLe[] = "le", kGt[] = "gt", kGe[] = "ge", kEq[] = "eq", kNe[] = "ne",
               kAnd[] = "and", kOr[] = "or", kXor[] = "xor", kLog10[] = "log10", kTan[] = "tan", kAsin[] = "asin", kAcos[] = "acos",
               kAtan[] = "atan", kSinh[] = "sinh", kCosh[] = "cosh", kAsinh[] = "asinh", kAcosh[] = "acosh", kAtanh[] = "atanh";

// isnan, isinf, isfinite, isposinf, isneginf; whole numbers are always finite.
NodeValues read_kind_of_number(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = graph.cast(node.tensor(0), is_floating(graph.dtype(node.tensor(0))) ? graph.dtype(node.tensor(0)) : DType::f32);
  const DType dtype = graph.dtype(x);
  const auto is = [&](const char* fn, ValueId of) { return graph.pointwise(fn, {of}, DType::boolean); };
  const std::string op = node.op();
  if (op.starts_with("aten.isnan")) return {is("isnan", x)};
  if (op.starts_with("aten.isinf")) return {is("isinf", x)};
  if (op.starts_with("aten.isfinite")) return {is("not", graph.pointwise("or", {is("isnan", x), is("isinf", x)}, DType::boolean))};
  const ValueId infinity = graph.constant(
      op.starts_with("aten.isposinf") ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity(), dtype);
  return {graph.pointwise("eq", {x, infinity}, DType::boolean)};
}

constexpr OpRow kPointwiseOps[] = {
    {"aten.add.Tensor", read_add},
    {"aten.add.Scalar", read_add},
    {"aten.sub.Tensor", read_sub},
    {"aten.sub.Scalar", read_sub},
    {"aten.subtract.Tensor", read_sub},
    {"aten.subtract.Scalar", read_sub},
    {"aten.rsub.Scalar", read_rsub},
    {"aten.rsub.Tensor", read_rsub},
    {"aten.mul.Tensor", read_binary<kMul>},
    {"aten.mul.Scalar", read_binary<kMul>},
    {"aten.multiply.Tensor", read_binary<kMul>},
    {"aten.multiply.Scalar", read_binary<kMul>},
    {"aten.div.Tensor", read_binary<kDiv>},
    {"aten.div.Scalar", read_binary<kDiv>},
    {"aten.divide.Tensor", read_binary<kDiv>},
    {"aten.divide.Scalar", read_binary<kDiv>},
    {"aten.true_divide.Tensor", read_binary<kDiv>},
    {"aten.div.Tensor_mode", read_div_mode},
    {"aten.div.Scalar_mode", read_div_mode},
    {"aten.floor_divide.default", read_floor_divide},
    {"aten.floor_divide.Scalar", read_floor_divide},
    {"aten.remainder.Tensor", read_remainder},
    {"aten.remainder.Scalar", read_remainder},
    {"aten.remainder.Scalar_Tensor", read_remainder},
    {"aten.fmod.Tensor", read_remainder},
    {"aten.fmod.Scalar", read_remainder},
    {"aten.pow.Tensor_Scalar", read_pow},
    {"aten.pow.Tensor_Tensor", read_pow},
    {"aten.pow.Scalar", read_pow},
    {"aten.neg.default", read_unary<kNeg>},
    {"aten.abs.default", read_unary<kAbs>},
    {"aten.sqrt.default", read_unary<kSqrt>},
    {"aten.rsqrt.default", read_unary<kRsqrt>},
    {"aten.exp.default", read_unary<kExp>},
    {"aten.exp2.default", read_unary<kExp2>},
    {"aten.expm1.default", read_unary<kExpm1>},
    {"aten.log.default", read_unary<kLog>},
    {"aten.log2.default", read_unary<kLog2>},
    {"aten.log1p.default", read_unary<kLog1p>},
    {"aten.sin.default", read_unary<kSin>},
    {"aten.cos.default", read_unary<kCos>},
    {"aten.erf.default", read_unary<kErf>},
    {"aten.erfc.default", read_unary<kErfc>},
    {"aten.log10.default", read_unary<kLog10>},
    {"aten.tan.default", read_unary<kTan>},
    {"aten.asin.default", read_unary<kAsin>},
    {"aten.acos.default", read_unary<kAcos>},
    {"aten.atan.default", read_unary<kAtan>},
    {"aten.sinh.default", read_unary<kSinh>},
    {"aten.cosh.default", read_unary<kCosh>},
    {"aten.asinh.default", read_unary<kAsinh>},
    {"aten.acosh.default", read_unary<kAcosh>},
    {"aten.atanh.default", read_unary<kAtanh>},
    {"aten.floor.default", read_unary<kFloor>},
    {"aten.ceil.default", read_unary<kCeil>},
    {"aten.round.default", read_unary<kRound>},
    {"aten.trunc.default", read_unary<kTrunc>},
    {"aten.sign.default", read_unary<kSign>},
    {"aten.square.default", read_unary<kSquare>},
    {"aten.reciprocal.default", read_unary<kReciprocal>},
    {"aten.maximum.default", read_binary<kMaximum>},
    {"aten.max.other", read_binary<kMaximum>},
    {"aten.minimum.default", read_binary<kMinimum>},
    {"aten.min.other", read_binary<kMinimum>},
    {"aten.clamp.default", read_clamp},
    {"aten.clamp.Tensor", read_clamp},
    {"aten.clip.default", read_clamp},
    {"aten.clamp_min.default", read_binary<kMaximum>},
    {"aten.clamp_max.default", read_binary<kMinimum>},
    {"aten.hardtanh.default", read_clamp},
    {"aten.lt.Tensor", read_comparison<kLt>},
    {"aten.lt.Scalar", read_comparison<kLt>},
    {"aten.le.Tensor", read_comparison<kLe>},
    {"aten.le.Scalar", read_comparison<kLe>},
    {"aten.gt.Tensor", read_comparison<kGt>},
    {"aten.gt.Scalar", read_comparison<kGt>},
    {"aten.ge.Tensor", read_comparison<kGe>},
    {"aten.ge.Scalar", read_comparison<kGe>},
    {"aten.eq.Tensor", read_comparison<kEq>},
    {"aten.eq.Scalar", read_comparison<kEq>},
    {"aten.ne.Tensor", read_comparison<kNe>},
    {"aten.ne.Scalar", read_comparison<kNe>},
    {"aten.logical_and.default", read_logical<kAnd>},
    {"aten.logical_or.default", read_logical<kOr>},
    {"aten.logical_xor.default", read_logical<kXor>},
    {"aten.bitwise_and.Tensor", read_binary<kAnd>},
    {"aten.bitwise_or.Tensor", read_binary<kOr>},
    {"aten.bitwise_xor.Tensor", read_binary<kXor>},
    {"aten.__and__.Tensor", read_binary<kAnd>},
    {"aten.__or__.Tensor", read_binary<kOr>},
    {"aten.bitwise_left_shift.Tensor", read_shift},
    {"aten.bitwise_left_shift.Tensor_Scalar", read_shift},
    {"aten.bitwise_left_shift.Scalar_Tensor", read_shift},
    {"aten.bitwise_right_shift.Tensor", read_shift},
    {"aten.bitwise_right_shift.Tensor_Scalar", read_shift},
    {"aten.bitwise_right_shift.Scalar_Tensor", read_shift},
    {"aten.__lshift__.Tensor", read_shift},
    {"aten.__lshift__.Scalar", read_shift},
    {"aten.__rshift__.Tensor", read_shift},
    {"aten.__rshift__.Scalar", read_shift},
    {"aten.bitwise_and.Scalar", read_binary<kAnd>},
    {"aten.bitwise_or.Scalar", read_binary<kOr>},
    {"aten.bitwise_xor.Scalar", read_binary<kXor>},
    {"aten.__and__.Scalar", read_binary<kAnd>},
    {"aten.__or__.Scalar", read_binary<kOr>},
    {"aten.__xor__.Tensor", read_binary<kXor>},
    {"aten.__xor__.Scalar", read_binary<kXor>},
    {"aten.bitwise_not.default", read_not},
    {"aten.logical_not.default", read_not},
    {"aten.isnan.default", read_kind_of_number},
    {"aten.isinf.default", read_kind_of_number},
    {"aten.isfinite.default", read_kind_of_number},
    {"aten.isposinf.default", read_kind_of_number},
    {"aten.isneginf.default", read_kind_of_number},
    {"aten.where.self", read_where},
    {"aten.where.ScalarOther", read_where},
    {"aten.where.ScalarSelf", read_where},
    {"aten.where.Scalar", read_where},
    {"aten.masked_fill.Scalar", read_masked_fill},
    {"aten.masked_fill.Tensor", read_masked_fill},
    {"aten.lerp.Scalar", read_lerp},
    {"aten.lerp.Tensor", read_lerp},
    {"aten.addcmul.default", read_addc},
    {"aten.addcdiv.default", read_addc},
    {"aten._to_copy.default", read_cast},
    {"aten.to.dtype", read_cast},
    {"aten.to.dtype_layout", read_cast},
    {"aten.type_as.default", read_cast},
    {"aten.to.other", read_cast},
    {"aten.clone.default", read_same},
    {"aten.contiguous.default", read_same},
    {"aten.detach.default", read_same},
    {"aten.alias.default", read_same},
    {"aten.lift_fresh_copy.default", read_same},
    {"aten.detach_.default", read_same},
    {"aten.dropout.default", read_dropout},
    {"aten.feature_dropout.default", read_dropout},
    {"aten.zeros.default", read_filled},
    {"aten.ones.default", read_filled},
    {"aten.full.default", read_filled},
    {"aten.zeros_like.default", read_filled},
    {"aten.ones_like.default", read_filled},
    {"aten.full_like.default", read_filled},
    {"aten.new_zeros.default", read_filled},
    {"aten.new_ones.default", read_filled},
    {"aten.new_full.default", read_filled},
    {"aten.scalar_tensor.default", read_filled},
    {"aten.arange.default", read_arange},
    {"aten.arange.start", read_arange},
    {"aten.arange.start_step", read_arange},
};

}  // namespace

std::span<const OpRow> pointwise_ops() { return kPointwiseOps; }

}  // namespace kw
