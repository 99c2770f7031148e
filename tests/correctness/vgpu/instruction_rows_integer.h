// Rows of integer and bit instructions. Answers come from 128-bit integers and loops over bits.
#pragma once

namespace kw::vgpu::host {

template <typename T>
void add_integer_rows(std::vector<Row>& rows) {
  const std::string t = type_text<T>();
  constexpr int kWidth = sizeof(T) * 8;
  const auto row = [&](const std::string& name, int sources, auto f) {
    rows.push_back({name + "." + t,
                    t,
                    std::vector<std::string>(static_cast<std::size_t>(sources), t),
                    [f](const u64* s) {
                      return static_cast<u64>(
                          f(Wide{static_cast<T>(s[0])}, Wide{static_cast<T>(s[1])}, Wide{static_cast<T>(s[2])}));
                    },
                    {}});
  };
  const auto high = [](Wide a, Wide b) {
    if constexpr (kWidth < 64) return (a * b) >> kWidth;
    // 64 bits from four products of halves, as by hand.
    const bool negative = (a < 0) != (b < 0);
    const auto x = static_cast<u64>(a < 0 ? -a : a), y = static_cast<u64>(b < 0 ? -b : b);
    const u64 x0 = x & 0xffffffff, x1 = x >> 32, y0 = y & 0xffffffff, y1 = y >> 32;
    const u64 middle = x1 * y0 + (x0 * y0 >> 32), cross = x0 * y1 + (middle & 0xffffffff);
    u64 upper = x1 * y1 + (middle >> 32) + (cross >> 32);
    if (negative) upper = ~upper + (x * y == 0 ? 1 : 0);
    return static_cast<Wide>(static_cast<T>(upper));
  };
  row("add", 2, [](Wide a, Wide b, Wide) { return a + b; });
  row("sub", 2, [](Wide a, Wide b, Wide) { return a - b; });
  row("mul.lo", 2, [](Wide a, Wide b, Wide) { return static_cast<u64>(a) * static_cast<u64>(b); });
  row("mul.hi", 2, [high](Wide a, Wide b, Wide) { return high(a, b); });
  row("mad.lo", 3, [](Wide a, Wide b, Wide c) { return static_cast<u64>(a) * static_cast<u64>(b) + static_cast<u64>(c); });
  row("mad.hi", 3, [high](Wide a, Wide b, Wide c) { return high(a, b) + c; });
  row("sad", 3, [](Wide a, Wide b, Wide c) { return (a < b ? b - a : a - b) + c; });
  // By zero PTX leaves it open: all ones and the dividend here, so that it is the same each time.
  row("div", 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a / b; });
  row("rem", 2, [](Wide a, Wide b, Wide) { return b == 0 ? a : a % b; });
  row("min", 2, [](Wide a, Wide b, Wide) { return a < b ? a : b; });
  row("max", 2, [](Wide a, Wide b, Wide) { return a < b ? b : a; });
  if constexpr (std::is_signed_v<T>) {
    row("abs", 1, [](Wide a, Wide, Wide) { return a < 0 ? -a : a; });
    row("neg", 1, [](Wide a, Wide, Wide) { return -a; });
  }
  rows.push_back({"shr." + t,
                  t,
                  {t, "u32"},
                  [](const u64* s) {
                    const Wide value = static_cast<T>(s[0]);
                    const int by = static_cast<int>(s[1] > 100 ? 100 : s[1]);
                    return static_cast<u64>(value >> by);
                  },
                  {}});
  if constexpr (kWidth < 64) {
    const std::string wide = t.substr(0, 1) + (kWidth == 16 ? "32" : "64");
    rows.push_back({"mul.wide." + t,
                    wide,
                    {t, t},
                    [](const u64* s) { return static_cast<u64>(Wide{static_cast<T>(s[0])} * Wide{static_cast<T>(s[1])}); },
                    {}});
    rows.push_back({"mad.wide." + t,
                    wide,
                    {t, t, wide},
                    [](const u64* s) { return static_cast<u64>(Wide{static_cast<T>(s[0])} * Wide{static_cast<T>(s[1])}) + s[2]; },
                    {}});
  }
  if constexpr (kWidth == 32) {
    const auto low24 = [](Wide a) {
      return std::is_signed_v<T> ? Wide{static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8} : (a & 0xffffff);
    };
    row("mul24.lo", 2, [low24](Wide a, Wide b, Wide) { return low24(a) * low24(b); });
    row("mul24.hi", 2, [low24](Wide a, Wide b, Wide) { return (low24(a) * low24(b)) >> 16; });
    row("mad24.lo", 3, [low24](Wide a, Wide b, Wide c) { return low24(a) * low24(b) + c; });
    row("mad24.hi", 3, [low24](Wide a, Wide b, Wide c) { return ((low24(a) * low24(b)) >> 16) + c; });
    if constexpr (std::is_signed_v<T>) {
      row("add.sat", 2, [](Wide a, Wide b, Wide) { return Wide{clamp_integer<T>(a + b)}; });
      row("sub.sat", 2, [](Wide a, Wide b, Wide) { return Wide{clamp_integer<T>(a - b)}; });
      row("mad.hi.sat", 3, [](Wide a, Wide b, Wide c) { return Wide{clamp_integer<T>(((a * b) >> 32) + c)}; });
      row("mad24.hi.sat", 3, [low24](Wide a, Wide b, Wide c) { return Wide{clamp_integer<T>(((low24(a) * low24(b)) >> 16) + c)}; });
      row("min.relu", 2, [](Wide a, Wide b, Wide) { return std::max(std::min(a, b), Wide{0}); });
      row("max.relu", 2, [](Wide a, Wide b, Wide) { return std::max(std::max(a, b), Wide{0}); });
    }
  }
}

inline std::vector<Row> integer_rows() {
  std::vector<Row> rows;
  add_integer_rows<std::uint16_t>(rows);
  add_integer_rows<std::int16_t>(rows);
  add_integer_rows<std::uint32_t>(rows);
  add_integer_rows<std::int32_t>(rows);
  add_integer_rows<std::uint64_t>(rows);
  add_integer_rows<std::int64_t>(rows);
  for (const int width : {16, 32, 64}) {
    const std::string t = "b" + std::to_string(width);
    rows.push_back({"and." + t, t, {t, t}, [](const u64* s) { return s[0] & s[1]; }, {}});
    rows.push_back({"or." + t, t, {t, t}, [](const u64* s) { return s[0] | s[1]; }, {}});
    rows.push_back({"xor." + t, t, {t, t}, [](const u64* s) { return s[0] ^ s[1]; }, {}});
    rows.push_back({"not." + t, t, {t}, [](const u64* s) { return ~s[0]; }, {}});
    rows.push_back({"cnot." + t, t, {t}, [](const u64* s) -> u64 { return s[0] == 0 ? 1 : 0; }, {}});
    rows.push_back({"shl." + t, t, {t, "u32"}, [](const u64* s) -> u64 { return s[1] > 63 ? 0 : s[0] << s[1]; }, {}});
    rows.push_back({"shr." + t, t, {t, "u32"}, [](const u64* s) -> u64 { return s[1] > 63 ? 0 : s[0] >> s[1]; }, {}});
  }
  const auto pair = [&rows](const std::string& name, bool is_signed, std::size_t sources, auto f) {
    const std::string t = is_signed ? "s16x2" : "u16x2";
    rows.push_back({name + "." + t,
                    t,
                    std::vector<std::string>(sources, t),
                    [f, is_signed](const u64* s) {
                      u64 result = 0;
                      for (int i = 0; i < 2; ++i) {
                        const auto part = [&](u64 word) {
                          return is_signed ? int{static_cast<std::int16_t>(word >> (16 * i))}
                                           : static_cast<int>(word >> (16 * i) & 0xffff);
                        };
                        result |= static_cast<u64>(static_cast<std::uint16_t>(f(part(s[0]), part(s[1])))) << (16 * i);
                      }
                      return result;
                    },
                    {}});
  };
  for (const bool is_signed : {false, true}) {
    pair("add", is_signed, 2, [](int a, int b) { return a + b; });
    pair("min", is_signed, 2, [](int a, int b) { return std::min(a, b); });
    pair("max", is_signed, 2, [](int a, int b) { return std::max(a, b); });
  }
  pair("min.relu", true, 2, [](int a, int b) { return std::max(std::min(a, b), 0); });
  pair("max.relu", true, 2, [](int a, int b) { return std::max(std::max(a, b), 0); });
  return rows;
}

// Bit by bit, as the manual's own pseudo code does it.
inline u64 field_of(u64 value, int width, bool is_signed, u64 position, u64 length) {
  const int pos = static_cast<int>(position & 0xff), len = static_cast<int>(length & 0xff), top = width - 1;
  const u64 fill = is_signed && len != 0 ? value >> std::min(pos + len - 1, top) & 1 : 0;
  u64 result = 0;
  for (int i = 0; i < width; ++i) result |= (i < len && pos + i <= top ? value >> (pos + i) & 1 : fill) << i;
  return result;
}

inline std::vector<Row> bit_rows() {
  std::vector<Row> rows;
  for (const int width : {32, 64}) {
    const std::string w = std::to_string(width), b = "b" + w;
    const auto count = [width](u64 value) {
      u64 ones = 0;
      for (int i = 0; i < width; ++i) ones += value >> i & 1;
      return ones;
    };
    const auto top = [width](u64 value) {
      int at = width - 1;
      while (at >= 0 && (value >> at & 1) == 0) --at;
      return at;
    };
    rows.push_back({"popc." + b, "u32", {b}, [count](const u64* s) { return count(s[0]); }, {}});
    rows.push_back({"clz." + b, "u32", {b}, [top, width](const u64* s) { return static_cast<u64>(width - 1 - top(s[0])); }, {}});
    rows.push_back({"brev." + b,
                    b,
                    {b},
                    [width](const u64* s) {
                      u64 result = 0;
                      for (int i = 0; i < width; ++i) result |= (s[0] >> i & 1) << (width - 1 - i);
                      return result;
                    },
                    {}});
    rows.push_back({"bfi." + b,
                    b,
                    {b, b, "u32", "u32"},
                    [width](const u64* s) {
                      u64 result = s[1];
                      const int pos = static_cast<int>(s[2] & 0xff), len = static_cast<int>(s[3] & 0xff);
                      for (int i = 0; i < len && pos + i < width; ++i)
                        result = (result & ~(u64{1} << (pos + i))) | (s[0] >> i & 1) << (pos + i);
                      return result;
                    },
                    {}});
    for (const bool is_signed : {false, true}) {
      const std::string t = (is_signed ? "s" : "u") + w;
      const auto find = [=](u64 value) {
        return top(is_signed && (value >> (width - 1) & 1) != 0 ? low_bits(~value, width) : value);
      };
      rows.push_back(
          {"bfind." + t, "u32", {t}, [find](const u64* s) { return static_cast<u64>(static_cast<std::int64_t>(find(s[0]))); }, {}});
      rows.push_back({"bfind.shiftamt." + t,
                      "u32",
                      {t},
                      [find, width](const u64* s) -> u64 {
                        const int at = find(s[0]);
                        return at < 0 ? 0xffffffff : static_cast<u64>(width - 1 - at);
                      },
                      {}});
      rows.push_back(
          {"bfe." + t, t, {t, "u32", "u32"}, [=](const u64* s) { return field_of(s[0], width, is_signed, s[1], s[2]); }, {}});
    }
  }
  const auto word = [&rows](const std::string& name, const std::string& result, std::vector<std::string> sources, Expect f) {
    rows.push_back({name, result, std::move(sources), std::move(f), {}});
  };
  word("fns.b32", "b32", {"b32", "u32", "s32"}, [](const u64* s) -> u64 {
    const auto offset = static_cast<std::int32_t>(s[2]);
    if (offset == 0) return s[1] < 32 && (s[0] >> s[1] & 1) != 0 ? s[1] : 0xffffffff;
    std::int64_t at = static_cast<std::int32_t>(s[1]), left = std::abs(std::int64_t{offset}) - 1;
    for (; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
      if ((s[0] >> at & 1) != 0 && left-- == 0) return static_cast<u64>(at);
    return 0xffffffff;
  });
  word("bmsk.clamp.b32", "b32", {"u32", "u32"}, [](const u64* s) {
    u64 result = 0;
    for (u64 i = 0; i < 32; ++i) result |= static_cast<u64>(i >= s[0] && i - s[0] < s[1]) << i;
    return result;
  });
  word("bmsk.wrap.b32", "b32", {"u32", "u32"}, [](const u64* s) {
    u64 result = 0;
    for (u64 i = 0; i < 32; ++i) result |= static_cast<u64>(i >= (s[0] & 31) && i - (s[0] & 31) < (s[1] & 31)) << i;
    return result;
  });
  for (const bool is_signed : {false, true}) {
    const std::string t = is_signed ? "s32" : "u32";
    word("szext.clamp." + t, t, {t, "u32"},
         [is_signed](const u64* s) { return field_of(s[0], 32, is_signed, 0, std::min<u64>(s[1], 32)); });
    word("szext.wrap." + t, t, {t, "u32"}, [is_signed](const u64* s) { return field_of(s[0], 32, is_signed, 0, s[1] & 31); });
  }
  for (const bool clamp : {false, true}) {
    const auto by = [clamp](u64 c) { return clamp ? std::min<u64>(c, 32) : c & 31; };
    const std::string mode = clamp ? "clamp" : "wrap";
    word("shf.l." + mode + ".b32", "b32", {"b32", "b32", "u32"},
         [by](const u64* s) { return static_cast<u64>((static_cast<Wide>(s[1] << 32 | s[0]) << by(s[2])) >> 32); });
    word("shf.r." + mode + ".b32", "b32", {"b32", "b32", "u32"}, [by](const u64* s) { return (s[1] << 32 | s[0]) >> by(s[2]); });
  }
  word("lop3.b32", "b32", {"b32", "b32", "b32", "lut"}, [](const u64* s) {
    u64 result = 0;
    for (int i = 0; i < 32; ++i) {
      const u64 index = (s[0] >> i & 1) << 2 | (s[1] >> i & 1) << 1 | (s[2] >> i & 1);
      result |= (s[3] >> index & 1) << i;
    }
    return result;
  });
  // Rows of the manual's table: which byte of b:a each byte of d is, highest first.
  const auto bytes = [](u64 a, u64 b, const char* digits) {
    const u64 both = b << 32 | a;
    u64 result = 0;
    for (int i = 0; i < 4; ++i) result = result << 8 | (both >> (8 * (digits[i] - '0')) & 0xff);
    return result;
  };
  const std::map<std::string, std::vector<const char*>> modes = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& [mode, table] : modes)
    word("prmt.b32." + mode, "b32", {"b32", "b32", "b32"},
         [bytes, table = table](const u64* s) { return bytes(s[0], s[1], table[s[2] & 3]); });
  word("prmt.b32", "b32", {"b32", "b32", "b32"}, [](const u64* s) {
    const u64 both = s[1] << 32 | s[0];
    u64 result = 0;
    for (int i = 0; i < 4; ++i) {
      const u64 selector = s[2] >> (4 * i) & 15, byte = both >> (8 * (selector & 7)) & 0xff;
      result |= (selector < 8 ? byte : (byte & 0x80) != 0 ? 0xff : 0) << (8 * i);
    }
    return result;
  });
  const auto part = [](u64 value, int i, int width, bool is_signed) {
    const std::int64_t bits = static_cast<std::int64_t>(value >> (i * width) & ((u64{1} << width) - 1));
    return is_signed && (bits >> (width - 1)) != 0 ? bits - (std::int64_t{1} << width) : bits;
  };
  for (const bool sa : {false, true})
    for (const bool sb : {false, true}) {
      const std::string a = sa ? "s32" : "u32", b = sb ? "s32" : "u32", sum = sa || sb ? "s32" : "u32";
      word("dp4a." + a + "." + b, sum, {a, b, sum}, [=](const u64* s) {
        std::int64_t total = static_cast<std::int64_t>(s[2]);
        for (int i = 0; i < 4; ++i) total += part(s[0], i, 8, sa) * part(s[1], i, 8, sb);
        return static_cast<u64>(total);
      });
      for (const int high : {0, 2})
        word(std::string("dp2a.") + (high != 0 ? "hi." : "lo.") + a + "." + b, sum, {a, b, sum}, [=](const u64* s) {
          std::int64_t total = static_cast<std::int64_t>(s[2]);
          for (int i = 0; i < 2; ++i) total += part(s[0], i, 16, sa) * part(s[1], i + high, 8, sb);
          return static_cast<u64>(total);
        });
    }
  // Bytes and halves side by side.
  using Part = std::int64_t (*)(std::int64_t, std::int64_t);
  const std::map<std::string, Part> parts = {
      {"vadd", [](std::int64_t a, std::int64_t b) { return a + b; }},
      {"vsub", [](std::int64_t a, std::int64_t b) { return a - b; }},
      {"vavrg", [](std::int64_t a, std::int64_t b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }},
      {"vabsdiff", [](std::int64_t a, std::int64_t b) { return std::abs(a - b); }},
      {"vmin", [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
      {"vmax", [](std::int64_t a, std::int64_t b) { return std::max(a, b); }}};
  for (const auto& [name, f] : parts)
    for (const bool is_signed : {false, true})
      for (const int width : {8, 16})
        for (const std::string mode : {"", ".sat", ".add"}) {
          const std::string t = is_signed ? "s32" : "u32";
          const Part each = f;
          word(name + (width == 8 ? "4." : "2.") + t + "." + t + "." + t + mode, t, {t, t, t}, [=](const u64* s) {
            u64 result = 0;
            std::int64_t total = static_cast<std::int64_t>(s[2]);
            for (int i = 0; i < 32 / width; ++i) {
              std::int64_t value = each(part(s[0], i, width, is_signed), part(s[1], i, width, is_signed));
              total += value;
              const std::int64_t low = is_signed ? -(std::int64_t{1} << (width - 1)) : 0,
                                 high = low + (std::int64_t{1} << width) - 1;
              if (mode == ".sat") value = std::min(std::max(value, low), high);
              result |= low_bits(static_cast<u64>(value), width) << (i * width);
            }
            return mode == ".add" ? static_cast<u64>(total) : result;
          });
        }
  return rows;
}

}  // namespace kw::vgpu::host
