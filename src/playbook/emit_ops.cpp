// Texts of single operations on expressions, scalar and vector.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "playbook/emit.h"

namespace kw {
namespace {

const std::map<std::string, std::string>& infix_operators() {
  static const std::map<std::string, std::string> operators{{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"lt", "<"},
                                                            {"le", "<="}, {"gt", ">"},  {"ge", ">="}, {"eq", "=="}, {"ne", "!="}};
  return operators;
}

bool is_comparison(const std::string& fn) {
  static const std::set<std::string> comparisons{"lt", "le", "gt", "ge", "eq", "ne"};
  return comparisons.contains(fn);
}

// Functions that have no polynomials on vectors: libm's, lane by lane.
bool is_only_in_libm(const std::string& fn) {
  static const std::set<std::string> functions{"log10", "tan",   "asin",  "acos",  "atan", "sinh",
                                               "cosh",  "asinh", "acosh", "atanh", "fmod"};
  return functions.contains(fn);
}

bool is_whole(DType dtype) { return !is_floating(dtype) && dtype != DType::boolean; }

// A float has all whole numbers up to here.
const double kExactInFloat = std::ldexp(1.0, 24);
// And a double, with which bounds are computed.
const double kExactInDouble = std::ldexp(1.0, 53);

// How large the result of an operation on whole numbers is at most, before it is brought into its type; negative: not known.
double bound_of(const std::string& fn, const std::vector<Expr>& operands) {
  const std::size_t first = fn == "where" ? 1 : 0;
  double largest = 0;
  for (std::size_t i = first; i < operands.size(); ++i) {
    if (operands[i].bound < 0) return -1;
    largest = std::max(largest, operands[i].bound);
  }
  double bound = -1;
  if (fn == "add" || fn == "sub") bound = operands[0].bound + operands[1].bound;
  if (fn == "mul") bound = operands[0].bound * operands[1].bound;
  if (fn == "square") bound = largest * largest;
  if (fn == "neg" || fn == "abs" || fn == "maximum" || fn == "minimum" || fn == "where" || fn == "relu") bound = largest;
  if (fn == "sign") bound = 1;
  if (fn == "div" || fn == "floor_div") bound = operands[0].bound;
  return bound < kExactInDouble ? bound : -1;
}

// Lanes are floats, which have sums, differences and products of whole numbers; quotients and bits they do not have.
bool has_whole_lanes(const std::string& fn) {
  static const std::set<std::string> functions{"add",     "sub",     "mul",   "neg",  "abs", "square",
                                               "maximum", "minimum", "where", "relu", "sign"};
  return functions.contains(fn);
}

// Whether whole numbers of a type with results up to `bound` may lie outside the type, where PyTorch wraps them around.
bool may_leave(const std::string& fn, DType dtype, double bound) {
  static const std::set<std::string> functions{"add", "sub", "mul", "neg", "abs", "square", "div", "floor_div", "not", "shl"};
  if (!functions.contains(fn) || dtype == DType::i64) return false;
  if (dtype == DType::u8 && (fn == "sub" || fn == "neg" || fn == "not")) return true;
  if (fn == "not") return false;
  return bound < 0 || bound > greatest_in(dtype);
}

}  // namespace

// Functions that need an approximation: libm's, or polynomials on vectors.
bool is_maths_function(const std::string& fn) {
  if (is_only_in_libm(fn)) return true;
  static const std::set<std::string> maths{"exp", "exp2", "expm1", "tanh",     "sigmoid", "silu", "mish", "gelu", "gelu_tanh",
                                           "log", "log2", "log1p", "softplus", "pow",     "sin",  "cos",  "erf",  "erfc"};
  return maths.contains(fn);
}

std::string_view value_type(DType dtype) {
  if (dtype == DType::f64) return "double";
  if (dtype == DType::boolean) return "bool";
  return is_floating(dtype) ? "float" : "std::int64_t";
}

double greatest_in(DType dtype) {
  if (dtype == DType::boolean) return 1;
  if (dtype == DType::u8) return 255;
  return std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - 1) - 1;
}

std::string number_text(double number, DType dtype) {
  if (dtype == DType::boolean) return number != 0 ? "true" : "false";
  if (!is_floating(dtype)) return fmt::format("std::int64_t({})", static_cast<std::int64_t>(number));
  const bool wide = dtype == DType::f64;
  if (std::isnan(number)) return wide ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (std::isinf(number)) return fmt::format("({}__builtin_inf{}())", number < 0 ? "-" : "", wide ? "" : "f");
  if (!wide && std::isinf(static_cast<float>(number))) return fmt::format("({}__builtin_inff())", number < 0 ? "-" : "");
  std::string text = wide ? fmt::format("{}", number) : fmt::format("{}", static_cast<float>(number));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (!wide) text += "f";
  return number < 0 ? "(" + text + ")" : text;
}

std::string float_text(double number) { return number_text(number, DType::f32); }

Expr Emitter::as_vector(const Expr& expression) {
  if (expression.vector) return expression;
  if (expression.dtype == DType::boolean)
    return {fmt::format("({} ? ~kw_mask{{}} : kw_mask{{}})", expression.text), DType::boolean, true, expression.depth};
  need("splat");
  const bool is_float = expression.dtype == DType::f32;
  return {fmt::format(fmt::runtime(is_float ? "kw_splat({})" : "kw_splat(float({}))"), expression.text), expression.dtype, true,
          expression.depth};
}

std::string Emitter::rounded_to_16(const std::string& text, DType dtype) const {
  const char* name = dtype == DType::f16 ? "f16" : "bf16";
  return cuda ? fmt::format("kw_{0}_wide(kw_{0}_of({1}))", name, text)
              : fmt::format("kw_to_float(kw_{}_from_float({}))", name, text);
}

Expr Emitter::converted(const Expr& expression, DType dtype) {
  if (expression.dtype == dtype) return expression;
  Expr result{expression.text, dtype, expression.vector, expression.depth};
  const bool whole = is_whole(dtype);
  if (whole && is_whole(expression.dtype)) result.bound = expression.bound;
  if (whole && expression.dtype == DType::boolean) result.bound = 1;
  const bool fits =
      dtype == DType::i64 || expression.dtype == DType::boolean ||
      (is_whole(expression.dtype) && (dtype == DType::u8 ? expression.dtype == DType::u8
                                                         : size_of(dtype) > size_of(expression.dtype) ||
                                                               (result.bound >= 0 && result.bound <= greatest_in(dtype))));
  if (!expression.vector) {
    if (dtype == DType::boolean) {
      result.text = fmt::format("({} != 0)", expression.text);
    } else if (is_16_bit(dtype)) {
      result.exact = value_type(expression.dtype) == "float" ? expression.text : fmt::format("float({})", expression.text);
      result.text = rounded_to_16(result.exact, dtype);
    } else if (value_type(dtype) != value_type(expression.dtype)) {
      // "float(long(x[i])) - y" would be a type and what is behind it: "+" makes x[i] an expression.
      result.text = fmt::format("{}({}{})", value_type(dtype), expression.text.ends_with("]") ? "+" : "", expression.text);
    }
    return whole && !fits ? wrapped(result) : result;
  }
  if (dtype == DType::boolean) {
    result.text = fmt::format("({} != 0.0f)", expression.text);
  } else if (expression.dtype == DType::boolean && (dtype == DType::f32 || whole)) {
    need("select");
    need("splat");
    result.text = fmt::format("kw_select({}, kw_splat(1.0f), kw_splat(0.0f))", expression.text);
  } else if (is_16_bit(dtype) && expression.dtype == DType::f32) {
    const char* piece = dtype == DType::f16 ? "rounded_f16" : "rounded_bf16";
    need(piece);
    result.exact = expression.text;
    result.text = fmt::format("kw_{}({})", piece, expression.text);
  } else if (whole && result.bound >= 0) {
    return fits ? result : wrapped(result);
  } else if ((dtype != DType::f32 || (is_floating(expression.dtype) && !is_16_bit(expression.dtype)))) {
    set_trouble(fmt::format("{} in lanes", torch_name(dtype)));
  }
  return result;
}

Expr Emitter::wrapped(const Expr& expression) {
  const DType dtype = expression.dtype;
  if (!is_whole(dtype) || dtype == DType::i64) return expression;
  Expr result = expression;
  result.bound = greatest_in(dtype) + (dtype == DType::u8 ? 0 : 1);
  if (!expression.vector) {
    result.text = fmt::format("std::int64_t({}({}))", c_type(dtype), expression.text);
    return result;
  }
  // The type's whole span is taken off as often as it is needed, exactly in floats.
  const double span = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)));
  const double below = dtype == DType::u8 ? 0 : span / 2;
  if (expression.bound < 0 || expression.bound + below >= kExactInFloat || span > kExactInFloat) {
    set_trouble(fmt::format("{} that wraps around in lanes", torch_name(dtype)));
    return result;
  }
  const Expr whole = named_at(std::min(expression.depth, depth()), "whole", expression.text, DType::f32, true);
  const Expr spans{fmt::format("(({} + {}) * {})", whole.text, float_text(below), float_text(1 / span)), DType::f32, true,
                   whole.depth};
  result.text = fmt::format("({} - {} * {})", whole.text, float_text(span), apply("floor", {spans}, DType::f32).text);
  result.depth = whole.depth;
  return result;
}

Expr Emitter::apply(const std::string& fn, const std::vector<Expr>& given, DType dtype) {
  if (fn == "cast") return converted(given[0], dtype);
  std::vector<Expr> operands = given;
  bool vector = false;
  bool whole = !is_floating(dtype);
  int deepest = 0;
  for (const auto& operand : operands) {
    vector = vector || operand.vector;
    deepest = std::max(deepest, operand.depth);
    if (!is_comparison(fn)) continue;
    if (is_floating(operand.dtype)) whole = false;
  }
  // Lanes are floats: whole numbers from memory are exact in them; what is made of these is as long as it stays small.
  const double bound = is_whole(dtype) ? bound_of(fn, operands) : -1;
  const bool small = has_whole_lanes(fn) && bound >= 0 && bound < kExactInFloat;
  if (vector && dtype != DType::f32 && dtype != DType::boolean && !small)
    set_trouble(fmt::format("{} in lanes", torch_name(dtype)));
  const bool wraps = is_whole(dtype) && may_leave(fn, dtype, bound);
  const auto result = [&](std::string text) {
    Expr made{std::move(text), dtype, vector, deepest};
    if (is_16_bit(dtype)) made.text = rounded_to_16(made.text, dtype);
    made.bound = bound;
    return wraps ? wrapped(made) : made;
  };
  // 64 bits wrap around in unsigned arithmetic: a signed sum past its type has no meaning in C.
  const bool unsigned_sums = dtype == DType::i64 && !vector && bound < 0;
  const auto in_64_bits = [&](std::string_view sign) {
    return result(
        fmt::format("std::int64_t(std::uint64_t({}) {} std::uint64_t({}))", operands[0].text, sign, operands.back().text));
  };
  const auto splat_all = [&] {
    if (!vector) return;
    for (auto& operand : operands) operand = as_vector(operand);
  };
  // A product less itself, as one fused operation, would be what its rounding left over.
  if (fn == "sub" && !cuda && is_floating(dtype) && operands[0].text == operands[1].text)
    return result(fmt::format("({} * 0.0f)", operands[0].text));
  const auto call = [&](const std::string& name) {
    splat_all();
    std::string arguments;
    for (const auto& operand : operands) arguments += (arguments.empty() ? "" : ", ") + operand.text;
    return result(fmt::format("{}({})", name, arguments));
  };

  if (const auto found = infix_operators().find(fn); found != infix_operators().end()) {
    if (vector && (operands[0].dtype == DType::boolean || operands[1].dtype == DType::boolean) && is_comparison(fn)) splat_all();
    if (vector)  // vector op scalar is understood where the scalar is a float
      for (auto& operand : operands)
        if (!operand.vector && operand.dtype != DType::f32) operand = as_vector(operand);
    if (fn == "div" && reciprocals && operands[1].depth < depth() && operands[0].depth > operands[1].depth && !operands[1].vector &&
        is_floating(dtype)) {
      const std::string inverse = unique("inverse");
      at_depth(operands[1].depth, [&] {
        auto& known = scopes_.back().known["1/" + operands[1].text];
        if (known.text.empty()) {
          line(fmt::format("const {} {} = {} / {};", value_type(dtype), inverse, number_text(1, dtype), operands[1].text));
          known = {inverse, dtype, false, operands[1].depth};
        }
        operands[1] = known;
      });
      use("reciprocal_multiply");
      return result(fmt::format("({} * {})", operands[0].text, operands[1].text));
    }
    if (unsigned_sums && (fn == "add" || fn == "sub" || fn == "mul")) return in_64_bits(found->second);
    return result(fmt::format("({} {} {})", operands[0].text, found->second, operands[1].text));
  }
  if (fn == "square" && unsigned_sums) return in_64_bits("*");
  if (fn == "shl") return result(fmt::format("std::int64_t(std::uint64_t({}) << {})", operands[0].text, operands[1].text));
  if (fn == "shr") return result(fmt::format("({} >> {})", operands[0].text, operands[1].text));
  if (fn == "neg") return result(fmt::format("(-{})", operands[0].text));
  if (fn == "reciprocal") return result(fmt::format("({} / {})", number_text(1, dtype), operands[0].text));
  if (fn == "square") return result(fmt::format("({0} * {0})", operands[0].text));
  if (fn == "and" || fn == "or" || fn == "xor") {
    splat_all();
    const bool logical = dtype == DType::boolean && !vector;
    const char* sign = fn == "and" ? (logical ? "&&" : "&") : fn == "or" ? (logical ? "||" : "|") : (logical ? "!=" : "^");
    return result(fmt::format("({} {} {})", operands[0].text, sign, operands[1].text));
  }
  if (fn == "not") return result(fmt::format("({}{})", dtype == DType::boolean && !vector ? "!" : "~", operands[0].text));
  if (fn == "where") {
    if (!operands[0].vector) {
      if (vector) operands[1] = as_vector(operands[1]), operands[2] = as_vector(operands[2]);
      return result(fmt::format("({} ? {} : {})", operands[0].text, operands[1].text, operands[2].text));
    }
    if (dtype == DType::boolean)
      return result(
          fmt::format("(({0} & {1}) | (~{0} & {2}))", operands[0].text, as_vector(operands[1]).text, as_vector(operands[2]).text));
    need("select");
    return call("kw_select");
  }
  if (fn == "floor_div")
    return result(fmt::format("({0} / {1} - (({0} % {1} != 0) && (({0} < 0) != ({1} < 0))))", operands[0].text, operands[1].text));
  if (fn == "isnan" || fn == "isinf") {
    if (fn == "isnan") return result(fmt::format("({0} != {0})", operands[0].text));
    need(vector ? "abs" : "scalar_abs");
    return result(fmt::format("(kw_abs({}) == __builtin_inff())", operands[0].text));
  }
  if (whole && (fn == "maximum" || fn == "minimum" || fn == "abs" || fn == "relu" || fn == "sign") && !vector) {
    need("scalar_" + fn);
    return call("kw_" + fn);
  }
  if (vector && is_maths_function(fn)) {
    const bool by_lanes = !vector_maths || (!cuda && is_only_in_libm(fn));
    need(by_lanes ? "each_" + fn : fn);
    if (!by_lanes) use("vector_maths");
  } else {
    need(vector ? fn : "scalar_" + fn);
  }
  return call("kw_" + fn);
}

Expr Emitter::special_case(const std::string& fn, const std::string& general, const Expr& x, const std::string& strategy) {
  if (!x.vector || !vector_maths || cuda || x.dtype != DType::f32) return apply(general, {x}, x.dtype);
  need(fn);
  use("vector_maths");
  use(strategy);
  return {fmt::format("kw_{}({})", fn, x.text), x.dtype, true, x.depth};
}

Expr Emitter::exp_to_one(const Expr& x) { return special_case("exp_to_one", "exp", x, "vector_maths"); }
Expr Emitter::expm1_of_negatives(const Expr& x) { return special_case("expm1_of_negatives", "expm1", x, "skip_idle_lanes"); }

Expr Emitter::combine(const std::string& fn, const Expr& a, const Expr& b) {
  if (fn == "sum") return apply("add", {a, b}, a.dtype);
  if (fn == "prod") return apply("mul", {a, b}, a.dtype);
  if (fn == "any") return apply("or", {a, b}, a.dtype);
  if (fn == "all") return apply("and", {a, b}, a.dtype);
  return apply(fn == "max" ? "maximum" : "minimum", {a, b}, a.dtype);
}

std::string Emitter::identity(const std::string& fn, DType dtype) {
  if (fn == "sum" || fn == "any") return number_text(0, dtype);
  if (fn == "prod" || fn == "all") return number_text(1, dtype);
  if (is_floating(dtype)) {
    const double inf = std::numeric_limits<double>::infinity();
    return number_text(fn == "max" ? -inf : inf, dtype);
  }
  if (dtype == DType::boolean) return fn == "max" ? "false" : "true";
  return fn == "max" ? "INT64_MIN" : "INT64_MAX";
}

Expr Emitter::across_lanes(const std::string& fn, const Expr& vector) {
  if (vector.dtype == DType::boolean) {
    need("any");
    if (fn == "any" || fn == "max") return {fmt::format("kw_any({})", vector.text), DType::boolean, false};
    return {fmt::format("(!kw_any(~{}))", vector.text), DType::boolean, false};
  }
  need(fn);
  return {fmt::format("kw_{}({})", fn, vector.text), vector.dtype, false};
}

void Emitter::end_of_row_pass(VarId along) {
  if (next_row.first < 0) {
    if (next_row.loads.contains(along)) next_row.first = along;
    return;
  }
  if (next_row.asked) return;
  // A pass over what was kept of the row has no loads of its own: those of the first pass are asked for.
  const bool own = next_row.loads.contains(along);
  const Variable& first = variables_[static_cast<std::size_t>(next_row.first)];
  if (!own && variables_[static_cast<std::size_t>(along)].range.high != first.range.high) return;
  for (const auto& [pointer, position] : next_row.loads.at(own ? along : next_row.first)) {
    const bool of_row = std::ranges::all_of(position.terms, [&](const auto& term) {
      return term.first == next_row.first || variables_[static_cast<std::size_t>(term.first)].depth <= next_row.depth;
    });
    if (!own && !of_row) continue;
    const Affine here = own ? position : position - Affine::variable(next_row.first) + Affine::variable(along);
    line(fmt::format("__builtin_prefetch(reinterpret_cast<const char*>({} + {}) + {});", pointer, text(here), next_row.bytes));
  }
  next_row.asked = true;
  use("prefetch_next_row");
}

}  // namespace kw
