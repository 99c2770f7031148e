// Rows of floating point instructions. float32 and float64 are computed by the processor in the direction asked for, 16-bit formats
// in long double and rounded once, approximations are compared with long double within the bound that PTX documents.
#pragma once

namespace kw::vgpu::host {

struct DirectionName {
  const char* text;
  int direction;
};
inline constexpr DirectionName kDirections[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

// -0 below +0; a NaN gives way to a number unless it is asked for.
template <typename T>
T extremum_of(T a, T b, bool max, bool nan_wins) {
  if (std::isnan(a) || std::isnan(b)) {
    if (nan_wins || (std::isnan(a) && std::isnan(b))) return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  const bool a_first = a < b || (a == b && std::signbit(a));
  return a_first != max ? a : b;
}

template <typename T>
void add_float_rows(std::vector<Row>& rows) {
  const std::string t = type_text<T>();
  const bool single = t == "f32";
  const auto row = [&](const std::string& name, std::size_t sources, bool ftz, auto f) {
    rows.push_back({name + "." + t,
                    t,
                    std::vector<std::string>(sources, t),
                    [f, ftz](const u64* s) {
                      const auto in = [ftz](u64 bits) { return ftz ? flush(from_bits<T>(bits)) : from_bits<T>(bits); };
                      const T result = f(in(s[0]), in(s[1]), in(s[2]));
                      return bits_of(ftz ? flush(result) : result);
                    },
                    {}});
  };
  for (const bool ftz : {false, true}) {
    if (ftz && !single) break;
    const std::string f = ftz ? ".ftz" : "";
    for (const auto& [text, direction] : kDirections) {
      const int d = direction;
      for (const bool sat : {false, true}) {
        if (sat && !single) break;
        const std::string m = text + f + (sat ? ".sat" : "");
        // Flushing comes before saturation; both are harmless to the other.
        const auto end = [sat](T value) { return sat ? saturate(value) : value; };
        row("add" + m, 2, ftz, [=](T a, T b, T) {
          return end(in_direction<T>(
              d, [](T x, T y, T) { return x + y; }, a, b));
        });
        row("sub" + m, 2, ftz, [=](T a, T b, T) {
          return end(in_direction<T>(
              d, [](T x, T y, T) { return x - y; }, a, b));
        });
        row("mul" + m, 2, ftz, [=](T a, T b, T) {
          return end(in_direction<T>(
              d, [](T x, T y, T) { return x * y; }, a, b));
        });
        row("fma" + m, 3, ftz, [=](T a, T b, T c) {
          return end(in_direction<T>(
              d, [](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c));
        });
      }
      const std::string m = text + f;
      row("div" + m, 2, ftz, [=](T a, T b, T) {
        return in_direction<T>(
            d, [](T x, T y, T) { return x / y; }, a, b);
      });
      row("rcp" + m, 1, ftz, [=](T a, T, T) {
        return in_direction<T>(
            d, [](T x, T, T) { return T(1) / x; }, a);
      });
      row("sqrt" + m, 1, ftz, [=](T a, T, T) {
        return in_direction<T>(
            d, [](T x, T, T) { return std::sqrt(x); }, a);
      });
    }
    row("mad.rn" + f, 3, ftz, [](T a, T b, T c) { return std::fma(a, b, c); });
    for (const bool max : {false, true}) {
      const std::string name = max ? "max" : "min";
      row(name + f, 2, ftz, [=](T a, T b, T) { return extremum_of(a, b, max, false); });
      if (!single) continue;
      row(name + f + ".NaN", 2, ftz, [=](T a, T b, T) { return extremum_of(a, b, max, true); });
      for (const bool nan : {false, true})
        row(name + f + (nan ? ".NaN" : "") + ".xorsign.abs", 2, ftz, [=](T a, T b, T) {
          const T size = extremum_of(std::fabs(a), std::fabs(b), max, nan);
          return std::signbit(a) != std::signbit(b) ? -size : size;
        });
    }
  }
  // Signs are bits, whatever they belong to.
  constexpr u64 kSign = u64{1} << (sizeof(T) * 8 - 1);
  const auto keep_nan = [](T value, u64 bits) { return std::isnan(value) && sizeof(T) == 8 ? u64{0x7fffffffffffffff} : bits; };
  rows.push_back({"neg." + t, t, {t}, [=](const u64* s) { return keep_nan(from_bits<T>(s[0]), s[0] ^ kSign); }, {}});
  rows.push_back({"abs." + t, t, {t}, [=](const u64* s) { return keep_nan(from_bits<T>(s[0]), s[0] & ~kSign); }, {}});
  rows.push_back({"copysign." + t,
                  t,
                  {t, t},
                  [=](const u64* s) { return keep_nan(from_bits<T>(s[1]), (s[1] & ~kSign) | (s[0] & kSign)); },
                  {}});
  if (single) {
    const auto flushed_bits = [](u64 bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; };
    rows.push_back({"neg.ftz.f32", "f32", {t}, [=](const u64* s) { return flushed_bits(s[0]) ^ kSign; }, {}});
    rows.push_back({"abs.ftz.f32", "f32", {t}, [=](const u64* s) { return flushed_bits(s[0]) & ~kSign; }, {}});
  }
}

inline std::vector<Row> float_rows() {
  std::vector<Row> rows;
  add_float_rows<float>(rows);
  add_float_rows<double>(rows);
  const auto pair = [&rows](const std::string& name, std::size_t sources, auto f) {
    rows.push_back({name,
                    "f32x2",
                    std::vector<std::string>(sources, "f32x2"),
                    [f](const u64* s) {
                      const auto half = [&](int i) {
                        return bits_of(f(as_float(s[0] >> i), as_float(s[1] >> i), as_float(s[2] >> i)));
                      };
                      return half(0) | half(32) << 32;
                    },
                    {}});
  };
  pair("add.rn.f32x2", 2, [](float a, float b, float) { return a + b; });
  pair("sub.rn.f32x2", 2, [](float a, float b, float) { return a - b; });
  pair("mul.rn.f32x2", 2, [](float a, float b, float) { return a * b; });
  pair("fma.rn.f32x2", 3, [](float a, float b, float c) { return std::fma(a, b, c); });
  pair("fma.rz.ftz.f32x2", 3, [](float a, float b, float c) {
    return flush(in_direction<float>(
        FE_TOWARDZERO, [](float x, float y, float z) { return std::fma(x, y, z); }, flush(a), flush(b), flush(c)));
  });
  return rows;
}

inline u64 half_bits(long double value, Layout layout) {
  return std::isnan(value) ? 0x7fff : encode_exact(round_to(value, layout, FE_TONEAREST), layout);
}

inline std::vector<Row> half_rows() {
  std::vector<Row> rows;
  for (const bool bfloat : {false, true})
    for (const bool packed : {false, true}) {
      const std::string t = std::string(bfloat ? "bf16" : "f16") + (packed ? "x2" : "");
      const Layout layout = bfloat ? kBfloat : kHalf;
      const auto row = [&](const std::string& name, std::size_t sources, bool ftz, auto f) {
        rows.push_back({name + "." + t,
                        t,
                        std::vector<std::string>(sources, t),
                        [=](const u64* s) {
                          const auto small = [layout](u64 bits) {
                            return (bits >> (layout.precision - 1) & ((1 << layout.exponent_bits) - 1)) == 0;
                          };
                          const auto flushed = [=](u64 bits) { return ftz && small(bits) ? bits & 0x8000 : bits; };
                          u64 result = 0;
                          for (int i = 0; i < (packed ? 32 : 16); i += 16) {
                            const auto in = [&](u64 word) { return decode(flushed(word >> i & 0xffff), layout); };
                            result |= flushed(half_bits(f(in(s[0]), in(s[1]), in(s[2])), layout)) << i;
                          }
                          return result;
                        },
                        {}});
      };
      const auto keep = [](long double value) { return value; };
      const auto sat = [](long double value) { return saturate(value); };
      const auto relu = [](long double value) { return value <= 0 ? 0.0L : value; };
      const auto arithmetic = [&](const std::string& m, bool ftz, auto end, bool fma_only) {
        const auto fma = [end](long double a, long double b, long double c) {
          const long double p = a * b;  // 22 bits at most
          return end(p == 0 || std::isnan(p) || std::isinf(p) || std::isinf(c)
                         ? p + c
                         : to_odd([](long double x, long double y, long double) { return x + y; }, p, c, 0));
        };
        row("fma.rn" + m, 3, ftz, [fma](long double a, long double b, long double c) {
          const long double sum = fma(a, b, c);
          return sum;
        });
        if (fma_only) return;
        row("add" + m, 2, ftz, [end](long double a, long double b, long double) {
          return end(std::isinf(a) || std::isinf(b)
                         ? a + b
                         : to_odd([](long double x, long double y, long double) { return x + y; }, a, b, 0));
        });
        row("sub.rn" + m, 2, ftz, [end](long double a, long double b, long double) {
          return end(std::isinf(a) || std::isinf(b)
                         ? a - b
                         : to_odd([](long double x, long double y, long double) { return x - y; }, a, b, 0));
        });
        row("mul.rn" + m, 2, ftz, [end](long double a, long double b, long double) { return end(a * b); });
      };
      arithmetic("", false, keep, false);
      arithmetic(".relu", false, relu, true);
      if (!bfloat) {
        arithmetic(".ftz", true, keep, false);
        arithmetic(".sat", false, sat, false);
      }
      for (const bool max : {false, true})
        for (const bool nan : {false, true}) {
          const std::string name = std::string(max ? "max" : "min") + (nan ? ".NaN" : "");
          row(name, 2, false, [=](long double a, long double b, long double) { return extremum_of(a, b, max, nan); });
          row(name + ".xorsign.abs", 2, false, [=](long double a, long double b, long double) {
            const long double size = extremum_of(std::fabs(a), std::fabs(b), max, nan);
            return std::signbit(a) != std::signbit(b) && !std::isnan(size) ? -size : size;
          });
        }
      const u64 signs = packed ? 0x80008000 : 0x8000;
      rows.push_back({"neg." + t, t, {t}, [=](const u64* s) { return s[0] ^ signs; }, {}});
      rows.push_back({"abs." + t, t, {t}, [=](const u64* s) { return s[0] & ~signs; }, {}});
    }
  return rows;
}

// How far an approximation may be from the truth.
struct Bound {
  long double relative = 0, absolute = 0;
};

inline bool within(long double got, long double truth, Bound bound, Layout layout) {
  if (std::isnan(truth)) return std::isnan(got);
  const long double nearest = round_to(truth, layout, FE_TONEAREST);
  if (std::isinf(nearest) || nearest == 0) return got == nearest || std::fabs(got - truth) <= bound.absolute;
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const long double smallest = std::ldexp(1.0L, 2 - bias - layout.precision);  // a subnormal is at best so close
  return std::fabs(got - truth) <= std::max({bound.relative * std::fabs(truth), bound.absolute, smallest});
}

inline std::vector<Row> special_rows() {
  std::vector<Row> rows;
  using Function = long double (*)(long double);
  const auto single = [&rows](const std::string& name, Function f, Bound bound) {
    for (const bool ftz : {false, true}) {
      if (ftz && name == "tanh.approx") continue;
      rows.push_back({name + (ftz ? ".ftz" : "") + ".f32", "f32", {"f32"}, {}, [=](const u64* s, u64 got) {
                        const float x = ftz ? flush(as_float(s[0])) : as_float(s[0]);
                        if (std::isnan(as_float(got)) && got != 0x7fffffff) return false;
                        const long double truth = f(x);
                        if (ftz && std::fabs(truth) < 0x1p-126L) return (got & 0x7fffffff) == 0 || (got & 0x7fffffff) == 0x00800000;
                        return within(as_float(got), truth, bound, kSingle);
                      }});
    }
  };
  single("ex2.approx", [](long double x) { return std::exp2(x); }, {0x1p-22L, 0});
  single("lg2.approx", [](long double x) { return std::log2(x); }, {0x1p-22L, 0x1p-22L});
  single("sin.approx", [](long double x) { return std::sin(x); }, {0, 0x1p-20L});
  single("cos.approx", [](long double x) { return std::cos(x); }, {0, 0x1p-20L});
  single("tanh.approx", [](long double x) { return std::tanh(x); }, {0x1p-11L, 0});
  single("rcp.approx", [](long double x) { return 1 / x; }, {0x1p-23L, 0});
  single("sqrt.approx", [](long double x) { return std::sqrt(x); }, {0x1p-23L, 0});
  single("rsqrt.approx", [](long double x) { return 1 / std::sqrt(x); }, {0x1p-22L, 0});
  for (const bool ftz : {false, true})
    for (const bool full : {false, true})
      rows.push_back({std::string("div.") + (full ? "full" : "approx") + (ftz ? ".ftz" : "") + ".f32",
                      "f32",
                      {"f32", "f32"},
                      {},
                      [=](const u64* s, u64 got) {
                        const float a = ftz ? flush(as_float(s[0])) : as_float(s[0]),
                                    b = ftz ? flush(as_float(s[1])) : as_float(s[1]);
                        if (!full && std::fabs(b) > 0x1p126F && std::isfinite(b))
                          return std::isinf(a) || std::isnan(a) ? got == 0x7fffffff : (got & 0x7fffffff) == 0;
                        const long double truth = static_cast<long double>(a) / b;
                        if (ftz && std::fabs(truth) < 0x1p-126L) return (got & 0x7fffffff) == 0 || (got & 0x7fffffff) == 0x00800000;
                        return within(as_float(got), truth, {0x1p-22L, 0}, kSingle);
                      }});
  for (const bool bfloat : {false, true})
    for (const std::string name : {"ex2.approx", "tanh.approx"})
      for (const bool packed : {false, true}) {
        const bool ex2 = name[0] == 'e', ftz = ex2 && bfloat;
        const std::string t = std::string(bfloat ? "bf16" : "f16") + (packed ? "x2" : "");
        const Layout layout = bfloat ? kBfloat : kHalf;
        rows.push_back(
            {name + (ftz ? ".ftz." : ".") + t, t, {t}, {}, [=](const u64* s, u64 got) {
               for (int i = 0; i < (packed ? 32 : 16); i += 16) {
                 long double x = decode(s[0] >> i & 0xffff, layout);
                 if (ftz && std::fabs(x) < 0x1p-126L) x = 0;
                 const long double truth = ex2 ? std::exp2(x) : std::tanh(x);
                 if (ftz && truth < 0x1p-126L && !std::isnan(truth)) {
                   if ((got >> i & 0x7fff) > 0x80) return false;
                 } else if (!within(decode(got >> i & 0xffff, layout), truth, {bfloat ? 0x1p-8L : 0x1p-10L, 0}, layout)) {
                   return false;
                 }
               }
               return true;
             }});
      }
  const auto coarse = [&rows](const std::string& name, Function f, long double relative) {
    rows.push_back({name, "f64", {"f64"}, {}, [=](const u64* s, u64 got) {
                      const bool ftz = name.find("ftz") != std::string::npos;
                      const double x = ftz ? flush(as_double(s[0])) : as_double(s[0]);
                      const long double truth = f(x);
                      if (ftz && std::fabs(truth) < 0x1p-1022L)
                        return (got & 0x7fffffffffffffff) == 0 || std::fabs(as_double(got)) == 0x1p-1022;
                      return within(as_double(got), truth, {relative, 0}, kDouble);
                    }});
  };
  coarse(
      "rcp.approx.ftz.f64", [](long double x) { return 1 / x; }, 0x1p-18L);
  coarse(
      "rsqrt.approx.ftz.f64", [](long double x) { return 1 / std::sqrt(x); }, 0x1p-18L);
  coarse(
      "rsqrt.approx.f64", [](long double x) { return 1 / std::sqrt(x); }, 0x1p-51L);
  return rows;
}

}  // namespace kw::vgpu::host
