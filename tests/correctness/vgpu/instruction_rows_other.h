// Rows of comparison, selection and conversion.
#pragma once

#include <utility>

namespace kw::vgpu::host {

inline long double value_of(const std::string& type, u64 bits) {
  if (type == "f32") return as_float(bits);
  if (type == "f64") return as_double(bits);
  if (type == "f16") return decode(bits, kHalf);
  if (type == "bf16") return decode(bits, kBfloat);
  const int width = width_of(type);
  const bool negative = type[0] == 's' && (bits >> (width - 1) & 1) != 0;
  return negative ? -static_cast<long double>(low_bits(~bits, width)) - 1 : static_cast<long double>(bits);  // 64 bits fit
}

inline bool compare_values(const std::string& compare, long double a, long double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  const std::string ordered = compare.size() == 3 && compare[2] == 'u' ? compare.substr(0, 2) : compare;
  if (compare == "num") return !nan;
  if (compare == "nan") return nan;
  if (nan) return ordered != compare;
  if (ordered == "eq") return a == b;
  if (ordered == "ne") return a != b;
  if (ordered == "lt" || ordered == "lo") return a < b;
  if (ordered == "le" || ordered == "ls") return a <= b;
  return ordered == "gt" || ordered == "hi" ? a > b : a >= b;
}
inline bool combine_values(const std::string& combine, bool a, bool b) {
  if (combine == ".and") return a && b;
  if (combine == ".or") return a || b;
  return combine == ".xor" ? a != b : a;
}

inline std::vector<Row> compare_rows() {
  std::vector<Row> rows;
  const std::vector<std::string> ordered = {"eq", "ne", "lt", "le", "gt", "ge"},
                                 unordered = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"},
                                 unsigned_only = {"lo", "ls", "hi", "hs"};
  const auto add = [&rows](const std::string& compare, const std::string& type, const std::string& combine, bool ftz) {
    const auto holds = [=](const u64* s) {
      long double a = value_of(type, s[0]), b = value_of(type, s[1]);
      const long double tiny = type == "f16" ? 0x1p-14L : 0x1p-126L;
      if (ftz && std::fabs(a) < tiny) a = 0;
      if (ftz && std::fabs(b) < tiny) b = 0;
      return combine_values(combine, compare_values(compare, a, b), combine.empty() ? false : s[2] != 0);
    };
    std::vector<std::string> sources = {type, type};
    if (!combine.empty()) sources.emplace_back("pred");
    const std::string middle = compare + combine + (ftz ? ".ftz" : "");
    rows.push_back({"setp." + middle + "." + type, "pred", sources, [=](const u64* s) -> u64 { return holds(s) ? 1 : 0; }, {}});
    if (type.ends_with("16") && type != "f16" && type != "bf16") return;
    rows.push_back(
        {"set." + middle + ".u32." + type, "u32", sources, [=](const u64* s) -> u64 { return holds(s) ? 0xffffffff : 0; }, {}});
    if (compare == "lt" || compare == "neu")
      rows.push_back(
          {"set." + middle + ".f32." + type, "f32", sources, [=](const u64* s) -> u64 { return holds(s) ? 0x3f800000 : 0; }, {}});
  };
  for (const std::string type : {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f16", "bf16", "f32", "f64"}) {
    const bool is_float = type[0] == 'f' || type.starts_with("bf");
    for (const auto& compare : ordered)
      if (type[0] != 'b' || is_float || compare == "eq" || compare == "ne") add(compare, type, "", false);
    for (const auto& compare : unordered)
      if (is_float) add(compare, type, "", false);
    for (const auto& compare : unsigned_only)
      if (type[0] == 'u') add(compare, type, "", false);
    for (const std::string combine : {".and", ".or", ".xor"}) add(type[0] == 'b' && !is_float ? "ne" : "lt", type, combine, false);
    if (type == "f32" || type == "f16") add("gt", type, ".or", true), add("neu", type, "", true);
  }
  for (const std::string type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const auto same_nan = [type](u64 bits) {
      return type == "f64" && std::isnan(as_double(bits)) ? u64{0x7fffffffffffffff} : bits;
    };
    rows.push_back(
        {"selp." + type, type, {type, type, "pred"}, [=](const u64* s) { return same_nan(s[2] != 0 ? s[0] : s[1]); }, {}});
    rows.push_back({"slct." + type + ".s32",
                    type,
                    {type, type, "s32"},
                    [=](const u64* s) { return same_nan((s[2] >> 31 & 1) == 0 ? s[0] : s[1]); },
                    {}});
    rows.push_back({"slct." + type + ".f32",
                    type,
                    {type, type, "f32"},
                    [=](const u64* s) { return same_nan(as_float(s[2]) >= 0 ? s[0] : s[1]); },
                    {}});
    rows.push_back({"slct.ftz." + type + ".f32",
                    type,
                    {type, type, "f32"},
                    [=](const u64* s) { return same_nan(flush(as_float(s[2])) >= 0 ? s[0] : s[1]); },
                    {}});
  }
  const auto test = [&rows](const std::string& name, auto f) {
    rows.push_back({"testp." + name + ".f32",
                    "pred",
                    {"f32"},
                    [f](const u64* s) -> u64 { return f(std::fpclassify(as_float(s[0]))) ? 1 : 0; },
                    {}});
    rows.push_back({"testp." + name + ".f64",
                    "pred",
                    {"f64"},
                    [f](const u64* s) -> u64 { return f(std::fpclassify(as_double(s[0]))) ? 1 : 0; },
                    {}});
  };
  test("finite", [](int kind) { return kind != FP_INFINITE && kind != FP_NAN; });
  test("infinite", [](int kind) { return kind == FP_INFINITE; });
  test("number", [](int kind) { return kind != FP_NAN; });
  test("notanumber", [](int kind) { return kind == FP_NAN; });
  test("normal", [](int kind) { return kind == FP_NORMAL; });
  test("subnormal", [](int kind) { return kind == FP_SUBNORMAL; });
  return rows;
}

// An integral value in an integer type; saturates by itself when it comes from a float.
inline u64 integer_bits(const std::string& to, const std::string& from, long double value) {
  const int width = width_of(to);
  if (std::isnan(value)) return width == 64 || from == "f64" ? u64{1} << (width - 1) : 0;
  const long double high = std::ldexp(1.0L, to[0] == 's' ? width - 1 : width), low = to[0] == 's' ? -high : 0;
  if (value >= high) return to[0] == 's' ? (u64{1} << (width - 1)) - 1 : low_bits(~u64{0}, width);
  if (value <= low) return to[0] == 's' ? u64{1} << (width - 1) : 0;
  return low_bits(value < 0 ? ~static_cast<u64>(-value) + 1 : static_cast<u64>(value), width);
}
inline Layout layout_of(const std::string& type) {
  if (type.starts_with("f16")) return kHalf;
  if (type.starts_with("bf16")) return kBfloat;
  return type == "f32" ? kSingle : type == "tf32" ? kTensor : kDouble;
}
inline u64 float_bits(const std::string& to, long double value, int direction) {
  if (std::isnan(value)) return to == "f64" ? 0x7fffffffffffffff : to == "f32" || to == "tf32" ? 0x7fffffff : 0x7fff;
  return encode_exact(round_to(value, layout_of(to), direction), layout_of(to)) << (to == "tf32" ? 13 : 0);
}
// 8-bit floats by trying all of them: the nearest, of two the one with the even pattern.
inline u64 byte_bits(bool e4m3, long double value) {
  if (std::isnan(value)) return 0x7f;
  const u64 largest = e4m3 ? 0x7e : 0x7b, sign = std::signbit(value) ? 0x80 : 0;
  if (std::fabs(value) > 0x1p17L) return sign | largest;
  u64 best = 0;
  long double distance = std::numeric_limits<long double>::infinity();
  for (u64 bits = 0; bits <= largest; ++bits) {
    const int mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, field = static_cast<int>(bits >> mantissa),
              rest = static_cast<int>(bits & ((1U << mantissa) - 1));
    const long double number = std::ldexp(static_cast<long double>(field == 0 ? rest : rest + (1 << mantissa)),
                                          (field == 0 ? 1 : field) - bias - mantissa);
    const long double away = std::fabs(std::fabs(value) - number);
    if (away < distance || (away == distance && (bits & 1) == 0)) best = bits, distance = away;
  }
  return best | sign;
}
inline long double byte_value(bool e4m3, u64 bits) {
  const int mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, field = static_cast<int>((bits & 0x7f) >> mantissa),
            rest = static_cast<int>(bits & ((1U << mantissa) - 1));
  long double value =
      std::ldexp(static_cast<long double>(field == 0 ? rest : rest + (1 << mantissa)), (field == 0 ? 1 : field) - bias - mantissa);
  if (e4m3 ? (bits & 0x7f) == 0x7f : field == 31 && rest != 0) value = std::numeric_limits<long double>::quiet_NaN();
  if (!e4m3 && field == 31 && rest == 0) value = std::numeric_limits<long double>::infinity();
  return (bits & 0x80) != 0 ? -value : value;
}

inline std::vector<Row> convert_rows() {
  std::vector<Row> rows;
  const std::vector<std::string> integers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"},
                                 floats = {"f16", "bf16", "f32", "f64"};
  struct Whole {
    const char* text;
    long double (*f)(long double);
  };
  static constexpr Whole kWholes[] = {{".rni", [](long double x) { return std::rint(x); }},
                                      {".rzi", [](long double x) { return std::trunc(x); }},
                                      {".rmi", [](long double x) { return std::floor(x); }},
                                      {".rpi", [](long double x) { return std::ceil(x); }}};
  const auto row = [&rows](const std::string& name, const std::string& to, std::vector<std::string> sources, Expect f) {
    rows.push_back({name, to, std::move(sources), std::move(f), {}});
  };
  for (const auto& from : integers) {
    for (const auto& to : integers) {
      row("cvt." + to + "." + from, to, {from}, [=](const u64* s) {
        return from[0] == 's' && (s[0] >> (width_of(from) - 1) & 1) != 0 ? s[0] | ~low_bits(~u64{0}, width_of(from)) : s[0];
      });
      if (to != from)
        row("cvt.sat." + to + "." + from, to, {from}, [=](const u64* s) { return integer_bits(to, from, value_of(from, s[0])); });
    }
    for (const auto& to : floats)
      for (const auto& [text, direction] : kDirections) {
        const int d = direction;
        row(std::string("cvt") + text + "." + to + "." + from, to, {from},
            [=](const u64* s) { return float_bits(to, value_of(from, s[0]), d); });
      }
  }
  for (const auto& from : floats) {
    for (const auto& [text, whole] : kWholes) {
      const auto f = whole;
      for (const auto& to : integers)
        row(std::string("cvt") + text + "." + to + "." + from, to, {from},
            [=](const u64* s) { return integer_bits(to, from, f(value_of(from, s[0]))); });
      row(std::string("cvt") + text + "." + from + "." + from, from, {from},
          [=](const u64* s) { return float_bits(from, f(value_of(from, s[0])), FE_TONEAREST); });
    }
    for (const auto& to : floats)
      for (const auto& [text, direction] : kDirections) {
        if (to == from) break;
        const int d = direction;
        const bool widens = to == "f64" || (to == "f32" && from != "f64");
        row(std::string("cvt") + (widens ? "" : text) + "." + to + "." + from, to, {from},
            [=](const u64* s) { return float_bits(to, value_of(from, s[0]), d); });
        if (widens) break;
      }
  }
  row("cvt.rzi.ftz.s32.f32", "s32", {"f32"},
      [](const u64* s) { return integer_bits("s32", "f32", std::trunc(flush(as_float(s[0])))); });
  row("cvt.rpi.ftz.u32.f32", "u32", {"f32"},
      [](const u64* s) { return integer_bits("u32", "f32", std::ceil(flush(as_float(s[0])))); });
  row("cvt.ftz.f32.f32", "f32", {"f32"}, [](const u64* s) { return bits_of(flush(as_float(s[0]))); });
  row("cvt.sat.f32.f32", "f32", {"f32"}, [](const u64* s) { return bits_of(saturate(as_float(s[0]))); });
  row("cvt.ftz.sat.f32.f32", "f32", {"f32"}, [](const u64* s) { return bits_of(saturate(flush(as_float(s[0])))); });
  row("cvt.rn.sat.f16.f32", "f16", {"f32"}, [](const u64* s) { return float_bits("f16", saturate(as_float(s[0])), FE_TONEAREST); });
  row("cvt.rn.ftz.f32.f64", "f32", {"f64"}, [](const u64* s) { return bits_of(flush(static_cast<float>(as_double(s[0])))); });
  row("cvt.rn.ftz.f16.f32", "f16", {"f32"}, [](const u64* s) { return float_bits("f16", flush(as_float(s[0])), FE_TONEAREST); });
  row("cvt.rn.relu.f16.f32", "f16", {"f32"},
      [](const u64* s) { return float_bits("f16", as_float(s[0]) <= 0 ? 0 : as_float(s[0]), FE_TONEAREST); });
  row("cvt.rn.relu.bf16.f32", "bf16", {"f32"},
      [](const u64* s) { return float_bits("bf16", as_float(s[0]) <= 0 ? 0 : as_float(s[0]), FE_TONEAREST); });
  row("cvt.rna.tf32.f32", "b32", {"f32"}, [](const u64* s) { return float_bits("tf32", as_float(s[0]), kTiesAway); });
  row("cvt.rn.tf32.f32", "b32", {"f32"}, [](const u64* s) { return float_bits("tf32", as_float(s[0]), FE_TONEAREST); });
  row("cvt.rz.tf32.f32", "b32", {"f32"}, [](const u64* s) { return float_bits("tf32", as_float(s[0]), FE_TOWARDZERO); });
  const auto relu = [](bool on, long double value) { return on && value <= 0 ? 0.0L : value; };
  for (const std::string to : {"f16x2", "bf16x2"})
    for (const bool cut : {false, true})
      for (const bool r : {false, true}) {
        const std::string one = to.substr(0, to.size() - 2), mode = std::string(cut ? ".rz" : ".rn") + (r ? ".relu" : "");
        const int d = cut ? FE_TOWARDZERO : FE_TONEAREST;
        row("cvt" + mode + "." + to + ".f32", to, {"f32", "f32"}, [=](const u64* s) {
          return float_bits(one, relu(r, as_float(s[0])), d) << 16 | float_bits(one, relu(r, as_float(s[1])), d);
        });
        row("cvt" + mode + ".satfinite." + to + ".f32", to, {"f32", "f32"}, [=](const u64* s) {
          const auto limited = [&](u64 bits) {
            const u64 result = float_bits(one, relu(r, as_float(bits)), d), infinity = one == "f16" ? 0x7c00 : 0x7f80;
            return (result & 0x7fff) == infinity ? result - 1 : result;
          };
          return limited(s[0]) << 16 | limited(s[1]);
        });
      }
  for (const bool e4m3 : {false, true}) {
    const std::string to = e4m3 ? "e4m3x2" : "e5m2x2";
    for (const bool r : {false, true}) {
      const std::string mode = r ? ".relu" : "";
      row("cvt.rn.satfinite" + mode + "." + to + ".f32", to, {"f32", "f32"},
          [=](const u64* s) { return byte_bits(e4m3, relu(r, as_float(s[0]))) << 8 | byte_bits(e4m3, relu(r, as_float(s[1]))); });
      row("cvt.rn.satfinite" + mode + "." + to + ".f16x2", to, {"f16x2"}, [=](const u64* s) {
        return byte_bits(e4m3, relu(r, decode(s[0] >> 16, kHalf))) << 8 | byte_bits(e4m3, relu(r, decode(s[0] & 0xffff, kHalf)));
      });
      row("cvt.rn" + mode + ".f16x2." + to, "f16x2", {to}, [=](const u64* s) {
        return half_bits(relu(r, byte_value(e4m3, s[0] >> 8)), kHalf) << 16 |
               half_bits(relu(r, byte_value(e4m3, s[0] & 0xff)), kHalf);
      });
    }
  }
  const auto packed = [](u64 a, const std::string& to) { return integer_bits(to, "s32", static_cast<std::int32_t>(a)); };
  for (const std::string to : {"u16", "s16"})
    row("cvt.pack.sat." + to + ".s32", "b32", {"s32", "s32"},
        [=](const u64* s) { return packed(s[0], to) << 16 | packed(s[1], to); });
  for (const std::string to : {"u8", "s8"})
    row("cvt.pack.sat." + to + ".s32.b32", "b32", {"s32", "s32", "b32"},
        [=](const u64* s) { return s[2] << 16 | packed(s[0], to) << 8 | packed(s[1], to); });
  return rows;
}

}  // namespace kw::vgpu::host
