// One row an instruction: its name, the types of its operands, and what the host says that it gives. Rows are data for two runners:
// functions over lanes alone (semantics_test) and a kernel on a Device (instructions_test).
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "host_arithmetic.h"

namespace kw::vgpu::host {

using Expect = std::function<u64(const u64* source)>;
using Accept = std::function<bool(const u64* source, u64 got)>;

struct Row {
  std::string name, result;          // "add.rz.f32", "f32"
  std::vector<std::string> sources;  // types; "lut" is an immediate of 8 bits, the same for all
  Expect expect;                     // bits of the answer
  Accept accept;                     // instead of expect, for approximations
};

inline int width_of(const std::string& type) {
  if (type == "pred") return 1;
  if (type.ends_with("x2") && type[0] != 'e' && type != "f32x2") return 32;
  if (type == "f32x2" || type.ends_with("64")) return 64;
  if (type.ends_with("32") || type == "lut") return 32;
  return type == "u8" || type == "s8" ? 8 : 16;
}
inline u64 low_bits(u64 value, int width) { return width >= 64 ? value : value & ((u64{1} << width) - 1); }

// Values that go wrong first.
inline const std::vector<u64>& edge_values(const std::string& type) {
  static const std::vector<u64> kSingles = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
                                            0x80800000, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x40490fdb, 0xc2f6e979,
                                            0x4b000000, 0x4b7fffff, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x7f7fffff,
                                            0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x3effffff, 0x3f000000,
                                            0x40200000, 0xc0200000, 0x5f000000, 0x7e967699, 0x33800000};
  static const std::vector<u64> kDoubles = {0,
                                            0x8000000000000000,
                                            1,
                                            0x800fffffffffffff,
                                            0x0010000000000000,
                                            0x3ff0000000000000,
                                            0xbff0000000000000,
                                            0x3fefffffffffffff,
                                            0x3ff0000000000001,
                                            0x400921fb54442d18,
                                            0xc05edd2f1a9fbe77,
                                            0x4330000000000000,
                                            0x43e0000000000000,
                                            0xc3e0000000000000,
                                            0x43f0000000000000,
                                            0x41dfffffffc00000,
                                            0x41e0000000000000,
                                            0x7fefffffffffffff,
                                            0xffefffffffffffff,
                                            0x7ff0000000000000,
                                            0xfff0000000000000,
                                            0x7ff8000000000000,
                                            0x3fe0000000000000,
                                            0x4004000000000000,
                                            0x36a0000000000000,
                                            0x3810000000000000,
                                            0x47efffffe0000000,
                                            0x47effffff0000000,
                                            0x3ff0000010000000,
                                            0x3fb999999999999a};
  static const std::vector<u64> kHalves = {0,      0x8000, 1,      0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                           0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x4248, 0xd7b8, 0x7bff, 0xfbff,
                                           0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x3800, 0x4100, 0xc100, 0x6400};
  static const std::vector<u64> kBfloats = {0,      0x8000, 1,      0x8001, 0x007f, 0x807f, 0x0080, 0x8080,
                                            0x3f80, 0xbf80, 0x3f7f, 0x3f81, 0x4049, 0xc2f7, 0x7f7f, 0xff7f,
                                            0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x3f00, 0x4020, 0xc020, 0x1e3c};
  static const std::vector<u64> kIntegers = {0,
                                             1,
                                             2,
                                             3,
                                             5,
                                             7,
                                             8,
                                             15,
                                             16,
                                             31,
                                             32,
                                             33,
                                             63,
                                             64,
                                             65,
                                             0x7f,
                                             0x80,
                                             0xff,
                                             0x7fff,
                                             0x8000,
                                             0xffff,
                                             0x10000,
                                             0x7fffff,
                                             0x800000,
                                             0xffffff,
                                             0x7fffffff,
                                             0x80000000,
                                             0x80000001,
                                             0xffffffff,
                                             0x100000000,
                                             0xfffffffe,
                                             0x7fffffffffffffff,
                                             0x8000000000000000,
                                             0xffffffffffffffff,
                                             0xfffffffffffffffe,
                                             0xffffffff80000000};
  static const std::vector<u64> kBits = {0, 1};
  static const std::vector<u64> kTables = {0x96};
  if (type == "f32" || type == "f32x2") return kSingles;
  if (type == "f64") return kDoubles;
  if (type.starts_with("f16")) return kHalves;
  if (type.starts_with("bf16")) return kBfloats;
  if (type == "pred") return kBits;
  return type == "lut" ? kTables : kIntegers;
}

inline u64 any_value(const std::string& type, std::mt19937_64& random, bool edge) {
  const auto& edges = edge_values(type);
  if (type == "lut") return edges[0];
  const auto pick = [&] { return edges[random() % edges.size()]; };
  const auto draw = [&]() -> u64 {
    if (edge) return pick();
    const u64 bits = random();
    // Half of the floats are near one, so that sums round and products don't overflow.
    if ((type == "f32" || type == "f32x2") && (bits & 1) != 0)
      return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-27F);
    if (type == "f64" && (bits & 1) != 0) return std::bit_cast<u64>(static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-60);
    if (type.starts_with("f16") && (bits & 1) != 0) return (bits >> 8 & 0x83ff) | (0x2800 + (bits >> 40 & 7) * 0x400);
    if (type.starts_with("bf16") && (bits & 1) != 0) return (bits >> 8 & 0x807f) | (0x3c00 + (bits >> 40 & 15) * 0x80);
    const bool is_integer = type[0] == 'u' || type[0] == 's' || type[0] == 'b';
    return is_integer && (bits & 2) != 0 ? random() >> (bits >> 8 & 63) : random();
  };
  if (type == "f32x2") return low_bits(draw(), 32) | draw() << 32;
  if (type == "f16x2" || type == "bf16x2") return low_bits(draw(), 16) | low_bits(draw(), 16) << 16;
  return low_bits(draw(), width_of(type));
}

inline constexpr int kCases =
    1024;  // a row is tried with so many sets of operands; with a quarter of them where there is one source

// sources[i][j]: operand i of case j. First all pairs of edge values, as far as they go, then edges and random values by chance.
inline std::vector<std::vector<u64>> cases_of(const Row& row) {
  std::mt19937_64 random(std::hash<std::string>{}(row.name));
  const std::size_t count = row.sources.size() == 1 ? kCases / 4 : kCases;
  std::vector<std::vector<u64>> values(row.sources.size(), std::vector<u64>(count));
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < row.sources.size(); ++i) values[i][j] = any_value(row.sources[i], random, (random() & 3) != 0);
  const bool packed = !row.sources.empty() && row.sources[0].ends_with("x2");
  if (row.sources.size() > 2 || packed) return values;
  const auto& first = edge_values(row.sources[0]);
  const auto& second = edge_values(row.sources.back());
  std::size_t j = 0;
  for (const u64 a : first)
    for (const u64 b : second) {
      if (j == count * 7 / 8) return values;
      values[0][j] = low_bits(a, width_of(row.sources[0]));
      if (row.sources.size() == 2) values[1][j] = low_bits(b, width_of(row.sources[1]));
      ++j;
      if (row.sources.size() == 1) break;
    }
  return values;
}

// What a wrong answer looks like; empty where it is right.
inline std::string judge(const Row& row, const u64* source, u64 got) {
  const int width = width_of(row.result);
  got = low_bits(got, width);
  if (row.result == "f64" && std::isnan(as_double(got))) got = 0x7fffffffffffffffULL;
  char text[256];
  if (row.accept) {
    if (row.accept(source, got)) return {};
    std::snprintf(text, sizeof text, "%s of %#llx gave %#llx", row.name.c_str(), static_cast<unsigned long long>(source[0]),
                  static_cast<unsigned long long>(got));
    return text;
  }
  const u64 expected = low_bits(row.expect(source), width);
  if (got == expected) return {};
  int at = std::snprintf(text, sizeof text, "%s gave %#llx instead of %#llx for", row.name.c_str(),
                         static_cast<unsigned long long>(got), static_cast<unsigned long long>(expected));
  for (std::size_t i = 0; i < row.sources.size() && at < 220; ++i)
    at +=
        std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), " %#llx", static_cast<unsigned long long>(source[i]));
  return text;
}

template <typename T>
inline const char* type_text() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
  if constexpr (std::is_same_v<T, std::int8_t>) return "s8";
  if constexpr (std::is_same_v<T, std::uint16_t>) return "u16";
  if constexpr (std::is_same_v<T, std::int16_t>) return "s16";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  if constexpr (std::is_same_v<T, std::int32_t>) return "s32";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "u64";
  if constexpr (std::is_same_v<T, std::int64_t>) return "s64";
  if constexpr (std::is_same_v<T, float>) return "f32";
  return "f64";
}

std::vector<Row> integer_rows();
std::vector<Row> bit_rows();
std::vector<Row> float_rows();
std::vector<Row> half_rows();
std::vector<Row> special_rows();
std::vector<Row> compare_rows();
std::vector<Row> convert_rows();

}  // namespace kw::vgpu::host

#include "instruction_rows_float.h"
#include "instruction_rows_integer.h"
#include "instruction_rows_other.h"
