// Texts of single operations in Python DSLs: the functions are tables in knowledge/playbook/python.
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "playbook/py_emit.h"

namespace kw {

extern const std::string_view kPythonFunctions[];  // generated from knowledge/playbook/python (cmake/EmbedTexts.cmake)
extern const std::size_t kPythonFunctionCount;

namespace {

const std::map<std::string, std::string>& functions_of(PyDialect dialect) {
  const auto read = [](std::string_view wanted) {
    for (std::size_t i = 0; i < kPythonFunctionCount; ++i) {
      auto table = Json::parse(kPythonFunctions[i]).get<std::map<std::string, std::string>>();
      if (table["dialect"] == wanted) return table;
    }
    return std::map<std::string, std::string>{};
  };
  static const auto triton = read("triton"), tilelang = read("tilelang");
  return dialect == PyDialect::triton ? triton : tilelang;
}

bool is_plain(const std::string& text) { return text.find_first_of(" (") == std::string::npos; }

}  // namespace

std::string python_helper(PyDialect dialect, const std::string& name) { return functions_of(dialect).at("helper_" + name); }

std::string PyEmitter::type_name(DType dtype) const {
  const char* name = dtype == DType::f64 ? "float64" : dtype == DType::boolean ? "int1" : is_floating(dtype) ? "float32" : "int64";
  if (dialect == PyDialect::triton) return fmt::format("tl.{}", name);
  return fmt::format("'{}'", dtype == DType::boolean ? "bool" : name);
}

std::string PyEmitter::number(double number, DType dtype) const {
  if (dialect == PyDialect::triton) {
    if (dtype == DType::boolean) return number != 0 ? "True" : "False";
    if (!is_floating(dtype)) return fmt::format("{}", static_cast<std::int64_t>(number));
    if (dtype != DType::f64) number = static_cast<double>(static_cast<float>(number));
    if (std::isnan(number)) return "float('nan')";
    if (std::isinf(number)) return number < 0 ? "float('-inf')" : "float('inf')";
    const std::string text = fmt::format("{}", number);
    const std::string whole = text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    return number < 0 ? "(" + whole + ")" : whole;
  }
  if (dtype == DType::boolean) return number != 0 ? "T.bool(True)" : "T.bool(False)";
  if (!is_floating(dtype)) return fmt::format("T.int64({})", static_cast<std::int64_t>(number));
  const char* type = dtype == DType::f64 ? "float64" : "float32";
  if (dtype != DType::f64) number = static_cast<double>(static_cast<float>(number));
  if (std::isnan(number)) return fmt::format("(T.infinity('{0}') - T.infinity('{0}'))", type);
  if (std::isinf(number)) return fmt::format("({}T.infinity('{}'))", number < 0 ? "-" : "", type);
  return fmt::format("T.{}({})", type, number);
}

std::string PyEmitter::identity(const std::string& fn, DType dtype) const {
  if (fn == "sum" || fn == "any") return number(0, dtype);
  if (fn == "prod" || fn == "all") return number(1, dtype);
  if (is_floating(dtype)) return number(fn == "max" ? -INFINITY : INFINITY, dtype);
  if (dtype == DType::boolean) return number(fn == "max" ? 0 : 1, dtype);
  const char* least = dialect == PyDialect::triton ? "-9223372036854775807" : "T.int64(-9223372036854775807)";
  const char* most = dialect == PyDialect::triton ? "9223372036854775807" : "T.int64(9223372036854775807)";
  return fn == "max" ? least : most;
}

PyExpr PyEmitter::converted(const PyExpr& expression, DType dtype) {
  if (expression.dtype == dtype) return expression;
  PyExpr result = expression;
  result.dtype = dtype;
  const bool triton = dialect == PyDialect::triton;
  const auto cast = [&](const std::string& text, const char* to) {
    if (!triton) return fmt::format("T.cast({}, '{}')", text, to);
    // Literals and scalars have no method.
    return expression.block || text.find('(') != std::string::npos ? fmt::format("({}).to(tl.{})", text, to)
                                                                   : fmt::format("tl.cast({}, tl.{})", text, to);
  };
  if (dtype == DType::boolean) {
    result.text = fmt::format("({} != 0)", expression.text);
  } else if (is_16_bit(dtype)) {
    const std::string once = cast(expression.text, dtype == DType::f16 ? "float16" : "bfloat16");
    result.text = triton ? once + ".to(tl.float32)" : fmt::format("T.cast({}, 'float32')", once);
  } else {
    if (value_type(dtype) != value_type(expression.dtype))
      result.text = cast(expression.text, dtype == DType::f64 ? "float64" : is_floating(dtype) ? "float32" : "int64");
    const bool narrower = expression.dtype != DType::boolean &&
                          (is_floating(expression.dtype) || dtype == DType::u8 || size_of(dtype) <= size_of(expression.dtype));
    if (!is_floating(dtype) && narrower) return wrapped(result);
  }
  return result;
}

PyExpr PyEmitter::wrapped(const PyExpr& expression) const {
  const DType dtype = expression.dtype;
  if (is_floating(dtype) || dtype == DType::boolean || dtype == DType::i64) return expression;
  PyExpr result = expression;
  result.text = fmt::format(
      fmt::runtime(dialect == PyDialect::triton ? "tl.cast(tl.cast({}, tl.{}), tl.int64)" : "T.cast(T.cast({}, '{}'), 'int64')"),
      expression.text, torch_name(dtype));
  return result;
}

PyExpr PyEmitter::apply(const std::string& fn, const std::vector<PyExpr>& given, DType dtype) {
  if (fn == "cast") return converted(given[0], dtype);
  std::vector<PyExpr> operands = given;
  bool whole = !is_floating(dtype), wide = dtype == DType::f64;
  PyExpr result{"", dtype, false, 0};
  for (const auto& operand : operands) {
    result.block = result.block || operand.block;
    result.depth = std::max(result.depth, operand.depth);
    if (is_floating(operand.dtype) && dtype == DType::boolean) whole = false;
    wide = wide || operand.dtype == DType::f64;
  }
  const auto& table = functions_of(dialect);
  auto found = table.end();
  if (whole && dtype != DType::boolean) found = table.find(fn + "_int");
  if (found == table.end() && wide) found = table.find(fn + "_f64");
  if (found == table.end() && fast_maths && !wide && !whole) {
    found = table.find("fast_" + fn);
    used_fast_ = used_fast_ || found != table.end();
  }
  if (found == table.end()) found = table.find(fn);
  if (found == table.end()) {
    set_trouble(fmt::format("no form of '{}'", fn));
    result.text = "0";
    return result;
  }
  const std::string& form = found->second;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string hole = fmt::format("{{{}}}", i);
    const std::size_t first = form.find(hole);
    const bool twice = first != std::string::npos && form.find(hole, first + 1) != std::string::npos;
    if (twice && !is_plain(operands[i].text))
      operands[i] = named_at(guards_.empty() ? std::min(operands[i].depth, depth()) : depth(), "v", operands[i]);
    for (std::size_t at = 0;;) {
      const std::string& now = result.text.empty() && i == 0 ? form : result.text;
      if (result.text.empty()) result.text = now;
      at = result.text.find(hole, at);
      if (at == std::string::npos) break;
      result.text.replace(at, hole.size(), operands[i].text);
      at += operands[i].text.size();
    }
  }
  if (is_16_bit(dtype)) return converted({result.text, DType::f32, result.block, result.depth}, dtype);
  static const std::set<std::string> may_leave{"add", "sub", "mul", "neg", "abs", "square", "div", "floor_div", "not", "shl"};
  return may_leave.contains(fn) ? wrapped(result) : result;
}

PyExpr PyEmitter::combine(const std::string& fn, const PyExpr& a, const PyExpr& b) {
  const char* name = fn == "sum"    ? "add"
                     : fn == "prod" ? "mul"
                     : fn == "any"  ? "or"
                     : fn == "all"  ? "and"
                     : fn == "max"  ? "maximum"
                                    : "minimum";
  return apply(name, {a, b}, a.dtype);
}

std::string PyEmitter::accumulator(const std::string& hint, DType dtype, const std::string& start, bool block) {
  std::string name = unique(hint);
  if (dialect == PyDialect::triton) {
    line(fmt::format("{} = tl.full({}, {}, {})", name, block ? block_shape : "[]", start, type_name(dtype)));
    return name;
  }
  line(fmt::format("{} = T.alloc_local((1,), {})", name, type_name(dtype)));
  line(fmt::format("{}[0] = {}", name, start));
  return name + "[0]";
}

void PyEmitter::assign(const std::string& accumulator, const std::string& text) { line(fmt::format("{} = {}", accumulator, text)); }

}  // namespace kw
