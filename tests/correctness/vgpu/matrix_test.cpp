// mma.sync and wmma: fragments are filled by the formulas of the PTX manual, one a shape, and products compared with those of dense
// matrices on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host_arithmetic.h"
#include "vgpu/device.h"
#include "vgpu/sem_hot.h"

namespace kw::vgpu {
namespace {

using Position = std::pair<int, int>;                          // row, column
using Formula = std::function<Position(int g, int t, int i)>;  // of element i in the lane of group g, place t

struct Product {
  std::string name;
  int m, n, k;
  std::string a, b, c, d;  // types
  Formula place_a, place_b, place_c;
};

int bits_of_type(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "f32" || type == "tf32" || type == "s32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "b1") return 1;
  return type == "u4" || type == "s4" ? 4 : 8;
}

// Small numbers that every type holds; sums of them are exact, so that the order doesn't matter.
double small_number(const std::string& type, std::uint32_t random) {
  if (type == "b1") return random & 1;
  if (type[0] == 'u') return random % (type == "u4" ? 16 : 256);
  if (type == "s4") return static_cast<int>(random % 16) - 8;
  if (type == "s8") return static_cast<int>(random % 256) - 128;
  if (type == "e5m2") return (static_cast<int>(random % 7) - 3) * 0.5;
  return (static_cast<int>(random % 15) - 7) * 0.25;
}
std::uint64_t pattern(const std::string& type, double value) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(value);
  if (type == "f32") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "tf32") return std::bit_cast<std::uint32_t>(static_cast<float>(value)) | 0x1abcU;  // the lower 13 bits don't count
  if (type == "f16") return host::encode_exact(value, host::kHalf);
  if (type == "bf16") return host::encode_exact(value, host::kBfloat);
  if (type == "e4m3") return host::encode_exact(value, {4, 4});
  if (type == "e5m2") return host::encode_exact(value, {3, 5});
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & ((std::uint64_t{1} << bits_of_type(type)) - 1);
}
double number(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f32") return host::as_float(bits);
  if (type == "f16") return static_cast<double>(host::decode(bits & 0xffff, host::kHalf));
  return static_cast<std::int32_t>(bits);
}

struct alignas(64) FragmentRegister {
  std::uint64_t words[kLanes] = {};
  // Element e of `bits` in the lane.
  void put(int lane, int bits, int e, std::uint64_t value) {
    if (bits == 64)
      words[lane] = value;
    else
      reinterpret_cast<std::uint32_t*>(words)[lane] |= static_cast<std::uint32_t>(value) << (bits * e);
  }
  [[nodiscard]] std::uint64_t get(int lane, int bits, int e) const {
    if (bits == 64) return words[lane];
    return reinterpret_cast<const std::uint32_t*>(words)[lane] >> (bits * e) & (bits == 32 ? 0xffffffffU : (1U << bits) - 1U);
  }
};

struct Fragment {
  std::vector<FragmentRegister> registers;
  std::vector<void*> places;
  Fragment(int count) : registers(static_cast<std::size_t>(count)) {  // NOLINT: implicit is fine here
    for (auto& each : registers) places.push_back(each.words);
  }
  [[nodiscard]] const void* const* sources() const { return places.data(); }
  void put(int lane, int bits, int element, std::uint64_t value) {
    const int per = bits >= 32 ? 1 : 32 / bits;
    registers[static_cast<std::size_t>(element / per)].put(lane, bits, element % per, value);
  }
  [[nodiscard]] std::uint64_t get(int lane, int bits, int element) const {
    const int per = bits >= 32 ? 1 : 32 / bits;
    return registers[static_cast<std::size_t>(element / per)].get(lane, bits, element % per);
  }
};

Semantics matrix_semantics_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, dot - at));
    at = dot + 1;
  }
  return find_semantics(parts[0], std::span(parts).subspan(1));
}

int elements_in(int registers, const std::string& type) {
  return registers * (bits_of_type(type) >= 32 ? 1 : 32 / bits_of_type(type));
}

void check_product(const Product& product) {
  const Semantics semantics = matrix_semantics_of(product.name);
  ASSERT_NE(semantics.fragment, nullptr) << product.name;
  EXPECT_EQ(semantics.flops, 2U * static_cast<unsigned>(product.m * product.n * product.k)) << product.name;
  std::mt19937 random(11);
  std::vector<double> a(static_cast<std::size_t>(product.m * product.k)), b(static_cast<std::size_t>(product.k * product.n)),
      c(static_cast<std::size_t>(product.m * product.n));
  for (auto& value : a) value = small_number(product.a, random());
  for (auto& value : b) value = small_number(product.b, random());
  for (auto& value : c)
    value = product.c == "s32" ? static_cast<int>(random() % 20001) - 10000 : static_cast<int>(random() % 65) - 32;
  Fragment fa(semantics.src_registers[0]), fb(semantics.src_registers[1]), fc(semantics.src_registers[2]),
      fd(semantics.dst_registers);
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4, t = lane % 4;
    const auto fill = [&](Fragment& fragment, int registers, const std::string& type, const Formula& place,
                          const std::vector<double>& matrix, int columns) {
      for (int i = 0; i < elements_in(registers, type); ++i) {
        const auto [row, column] = place(g, t, i);
        fragment.put(lane, bits_of_type(type), i, pattern(type, matrix[static_cast<std::size_t>(row * columns + column)]));
      }
    };
    fill(fa, semantics.src_registers[0], product.a, product.place_a, a, product.k);
    fill(fb, semantics.src_registers[1], product.b, product.place_b, b, product.n);
    fill(fc, semantics.src_registers[2], product.c, product.place_c, c, product.n);
  }
  LaneExtra extra;
  extra.immediate = semantics.immediate;
  semantics.fragment(fd.places.data(), fa.sources(), fb.sources(), fc.sources(), extra);
  const bool bits = product.a == "b1", with_and = product.name.find(".and.") != std::string::npos,
             saturate = product.name.find("satfinite") != std::string::npos;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < elements_in(semantics.dst_registers, product.d); ++i) {
      const auto [row, column] = product.place_c(lane / 4, lane % 4, i);
      double expected = c[static_cast<std::size_t>(row * product.n + column)];
      for (int p = 0; p < product.k; ++p) {
        const double x = a[static_cast<std::size_t>(row * product.k + p)], y = b[static_cast<std::size_t>(p * product.n + column)];
        expected += !bits ? x * y : with_and ? (x != 0 && y != 0 ? 1 : 0) : (x != y ? 1 : 0);
      }
      if (saturate) expected = std::min(std::max(expected, -2147483648.0), 2147483647.0);
      if (product.d == "f16") expected = static_cast<double>(host::round_to(expected, host::kHalf, FE_TONEAREST));
      ASSERT_EQ(number(product.d, fd.get(lane, bits_of_type(product.d), i)), expected)
          << product.name << " row " << row << " column " << column;
    }
}

// The manual's formulas.
Position c_of_16x8(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Position c_of_8x8(int g, int t, int i) { return {g, t * 2 + i}; }

std::vector<Product> products() {
  std::vector<Product> list;
  const auto add = [&list](const std::string& shape, int m, int n, int k, const std::string& a, const std::string& b,
                           const std::string& c, const std::string& d, const std::string& tail, Formula pa, Formula pb) {
    const std::string middle = tail == ".satfinite" ? tail : "", end = tail == ".satfinite" ? "" : tail;
    list.push_back({"mma.sync.aligned." + shape + ".row.col" + middle + "." + d + "." + a + "." + b + "." + c + end, m, n, k, a, b,
                    c, d, std::move(pa), std::move(pb), m == 8 ? c_of_8x8 : c_of_16x8});
  };
  for (const std::string type : {"f16", "bf16"})
    for (const std::string c : {"f32", "f16"})
      for (const std::string d : {"f32", "f16"}) {
        if (type == "bf16" && (c == "f16" || d == "f16")) continue;
        add(
            "m16n8k8", 16, 8, 8, type, type, c, d, "",
            [](int g, int t, int i) { return Position(i < 2 ? g : g + 8, t * 2 + (i & 1)); },
            [](int g, int t, int i) { return Position(t * 2 + i, g); });
        add(
            "m16n8k16", 16, 8, 16, type, type, c, d, "",
            [](int g, int t, int i) { return Position(i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)); },
            [](int g, int t, int i) { return Position(t * 2 + (i & 1) + (i < 2 ? 0 : 8), g); });
      }
  add(
      "m16n8k4", 16, 8, 4, "tf32", "tf32", "f32", "f32", "", [](int g, int t, int i) { return Position(i == 0 ? g : g + 8, t); },
      [](int g, int t, int) { return Position(t, g); });
  add(
      "m16n8k8", 16, 8, 8, "tf32", "tf32", "f32", "f32", "",
      [](int g, int t, int i) { return Position(i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4); },
      [](int g, int t, int i) { return Position(i == 0 ? t : t + 4, g); });
  add(
      "m8n8k4", 8, 8, 4, "f64", "f64", "f64", "f64", "", [](int g, int t, int) { return Position(g, t); },
      [](int g, int t, int) { return Position(t, g); });
  add(
      "m16n8k4", 16, 8, 4, "f64", "f64", "f64", "f64", "", [](int g, int t, int i) { return Position(i == 0 ? g : g + 8, t); },
      [](int g, int t, int) { return Position(t, g); });
  add(
      "m16n8k8", 16, 8, 8, "f64", "f64", "f64", "f64", "",
      [](int g, int t, int i) { return Position(i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4); },
      [](int g, int t, int i) { return Position(i == 0 ? t : t + 4, g); });
  add(
      "m16n8k16", 16, 8, 16, "f64", "f64", "f64", "f64", "",
      [](int g, int t, int i) { return Position(i % 2 == 0 ? g : g + 8, i / 2 * 4 + t); },
      [](int g, int t, int i) { return Position(i * 4 + t, g); });
  for (const std::string a : {"u8", "s8"})
    for (const std::string b : {"u8", "s8"})
      for (const std::string tail : {"", ".satfinite"}) {
        add(
            "m8n8k16", 8, 8, 16, a, b, "s32", "s32", tail, [](int g, int t, int i) { return Position(g, t * 4 + i); },
            [](int g, int t, int i) { return Position(t * 4 + i, g); });
        add(
            "m16n8k16", 16, 8, 16, a, b, "s32", "s32", tail,
            [](int g, int t, int i) { return Position(i < 4 ? g : g + 8, t * 4 + (i & 3)); },
            [](int g, int t, int i) { return Position(t * 4 + i, g); });
        add(
            "m16n8k32", 16, 8, 32, a, b, "s32", "s32", tail,
            [](int g, int t, int i) {
              return Position(i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16));
            },
            [](int g, int t, int i) { return Position(t * 4 + (i & 3) + (i < 4 ? 0 : 16), g); });
      }
  for (const std::string a : {"u4", "s4"})
    for (const std::string b : {"u4", "s4"}) {
      add(
          "m8n8k32", 8, 8, 32, a, b, "s32", "s32", "", [](int g, int t, int i) { return Position(g, t * 8 + i); },
          [](int g, int t, int i) { return Position(t * 8 + i, g); });
      add(
          "m16n8k32", 16, 8, 32, a, b, "s32", "s32", "",
          [](int g, int t, int i) { return Position(i < 8 ? g : g + 8, t * 8 + (i & 7)); },
          [](int g, int t, int i) { return Position(t * 8 + i, g); });
      add(
          "m16n8k64", 16, 8, 64, a, b, "s32", "s32", "",
          [](int g, int t, int i) {
            return Position(i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32));
          },
          [](int g, int t, int i) { return Position(t * 8 + (i & 7) + (i < 8 ? 0 : 32), g); });
    }
  for (const std::string tail : {".xor.popc", ".and.popc"}) {
    add(
        "m8n8k128", 8, 8, 128, "b1", "b1", "s32", "s32", tail, [](int g, int t, int i) { return Position(g, t * 32 + i); },
        [](int g, int t, int i) { return Position(t * 32 + i, g); });
    add(
        "m16n8k128", 16, 8, 128, "b1", "b1", "s32", "s32", tail,
        [](int g, int t, int i) { return Position(i < 32 ? g : g + 8, t * 32 + (i & 31)); },
        [](int g, int t, int i) { return Position(t * 32 + i, g); });
    add(
        "m16n8k256", 16, 8, 256, "b1", "b1", "s32", "s32", tail,
        [](int g, int t, int i) {
          return Position(i < 32 || (i >= 64 && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i < 64 ? 0 : 128));
        },
        [](int g, int t, int i) { return Position(t * 32 + (i & 31) + (i < 32 ? 0 : 128), g); });
  }
  for (const std::string a : {"e4m3", "e5m2"})
    for (const std::string b : {"e4m3", "e5m2"})
      for (const std::string c : {"f32", "f16"})
        add(
            "m16n8k32", 16, 8, 32, a, b, c, c, "",
            [](int g, int t, int i) {
              return Position(i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16));
            },
            [](int g, int t, int i) { return Position(t * 4 + (i & 3) + (i < 4 ? 0 : 16), g); });
  return list;
}

TEST(Matrix, MmaByTheManualsFormulas) {
  for (const bool portable : {false, true}) {
    portable_only() = portable;
    for (const Product& product : products()) check_product(product);
  }
  portable_only() = false;
}

TEST(Matrix, IntegersWrapAroundOrSaturate) {
  for (const bool saturate : {false, true}) {
    const Semantics semantics =
        matrix_semantics_of(std::string("mma.sync.aligned.m8n8k16.row.col") + (saturate ? ".satfinite" : "") + ".s32.u8.u8.s32");
    Fragment a(1), b(1), c(2), d(2);
    for (int lane = 0; lane < kLanes; ++lane) {
      a.put(lane, 32, 0, 0xffffffff);
      b.put(lane, 32, 0, 0xffffffff);
      for (int i = 0; i < 2; ++i) c.put(lane, 32, i, 0x7ffffff0);
    }
    LaneExtra extra;
    extra.immediate = semantics.immediate;
    semantics.fragment(d.places.data(), a.sources(), b.sources(), c.sources(), extra);
    EXPECT_EQ(d.get(5, 32, 1), saturate ? 0x7fffffffU : 0x7ffffff0U + 16U * 255U * 255U);
  }
}

TEST(Matrix, QuadPairsOfFloat16) {
  // Four products of 8 x 8 x 4 at once; the manual's formulas for m8n8k4.
  for (const bool a_column : {false, true})
    for (const bool b_row : {false, true})
      for (const bool half : {false, true}) {
        const Semantics semantics = matrix_semantics_of(std::string("mma.sync.aligned.m8n8k4.") + (a_column ? "col." : "row.") +
                                                        (b_row ? "row." : "col.") + (half ? "f16.f16.f16.f16" : "f32.f16.f16.f32"));
        ASSERT_NE(semantics.fragment, nullptr);
        std::mt19937 random(5);
        double a[4][8][4], b[4][4][8], c[4][8][8];
        for (auto& q : a)
          for (auto& row : q)
            for (auto& value : row) value = small_number("f16", random());
        for (auto& q : b)
          for (auto& row : q)
            for (auto& value : row) value = small_number("f16", random());
        for (auto& q : c)
          for (auto& row : q)
            for (auto& value : row) value = small_number("f16", random());
        const std::string type = half ? "f16" : "f32";
        Fragment fa(2), fb(2), fc(half ? 4 : 8), fd(half ? 4 : 8);
        const auto place_c = [half](int lane, int i) {
          const int upper = lane < 16 ? 0 : 4;
          return half ? Position(lane % 4 + upper, i) : Position((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1));
        };
        for (int lane = 0; lane < kLanes; ++lane) {
          const int q = lane / 4 % 4, upper = lane < 16 ? 0 : 4;
          for (int i = 0; i < 4; ++i) {
            fa.put(lane, 16, i, pattern("f16", a_column ? a[q][i + upper][lane % 4] : a[q][lane % 4 + upper][i]));
            fb.put(lane, 16, i, pattern("f16", b_row ? b[q][lane % 4][i + upper] : b[q][i][lane % 4 + upper]));
          }
          for (int i = 0; i < 8; ++i)
            fc.put(lane, bits_of_type(type), i, pattern(type, c[q][place_c(lane, i).first][place_c(lane, i).second]));
        }
        LaneExtra extra;
        extra.immediate = semantics.immediate;
        semantics.fragment(fd.places.data(), fa.sources(), fb.sources(), fc.sources(), extra);
        for (int lane = 0; lane < kLanes; ++lane)
          for (int i = 0; i < 8; ++i) {
            const int q = lane / 4 % 4;
            const auto [row, column] = place_c(lane, i);
            double expected = c[q][row][column];
            for (int p = 0; p < 4; ++p) expected += a[q][row][p] * b[q][p][column];
            ASSERT_EQ(number(type, fd.get(lane, bits_of_type(type), i)), expected) << a_column << b_row << half;
          }
      }
}

FragmentMap map_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, dot - at));
    at = dot + 1;
  }
  return find_fragment_map(parts[0], std::span(parts).subspan(1));
}

TEST(Matrix, WmmaFragmentsCoverTheMatrixAndMultiply) {
  struct Case {
    const char *shape, *a, *c;
    int m, n, k;
  };
  const Case cases[] = {
      {"m16n16k16", "f16", "f32", 16, 16, 16}, {"m16n16k16", "f16", "f16", 16, 16, 16},  {"m32n8k16", "f16", "f32", 32, 8, 16},
      {"m8n32k16", "f16", "f32", 8, 32, 16},   {"m16n16k16", "bf16", "f32", 16, 16, 16}, {"m32n8k16", "bf16", "f32", 32, 8, 16},
      {"m8n32k16", "bf16", "f32", 8, 32, 16},  {"m16n16k8", "tf32", "f32", 16, 16, 8},   {"m16n16k16", "s8", "s32", 16, 16, 16},
      {"m32n8k16", "u8", "s32", 32, 8, 16},    {"m8n32k16", "s8", "s32", 8, 32, 16},     {"m8n8k4", "f64", "f64", 8, 8, 4}};
  for (const Case& each : cases) {
    const std::string shape = each.shape, a_type = each.a, c_type = each.c;
    const std::string types = a_type == "f16" ? c_type + "." + c_type : c_type + "." + a_type + "." + a_type + "." + c_type;
    const Semantics semantics = matrix_semantics_of("wmma.mma.sync.aligned.row.col." + shape + "." + types);
    ASSERT_NE(semantics.fragment, nullptr) << shape << a_type;
    const FragmentMap map_a = map_of("wmma.load.a.sync.aligned.row." + shape + ".shared." + a_type),
                      map_b = map_of("wmma.load.b.sync.aligned.col." + shape + "." + a_type);
    const FragmentMap map_c = map_of("wmma.load.c.sync.aligned.row." + shape + ".global." + c_type),
                      map_d = map_of("wmma.store.d.sync.aligned.row." + shape + "." + c_type);
    ASSERT_TRUE(map_a.place != nullptr && map_b.place != nullptr && map_c.place != nullptr && map_d.place != nullptr)
        << shape << a_type;
    EXPECT_FALSE(map_a.column_major);
    EXPECT_TRUE(map_b.column_major);
    EXPECT_EQ(map_a.registers, semantics.src_registers[0]);
    EXPECT_EQ(map_b.registers, semantics.src_registers[1]);
    EXPECT_EQ(map_c.registers, semantics.src_registers[2]);
    EXPECT_EQ(map_d.registers, semantics.dst_registers);
    std::mt19937 random(13);
    std::vector<double> a(static_cast<std::size_t>(each.m * each.k)), b(static_cast<std::size_t>(each.k * each.n)),
        c(static_cast<std::size_t>(each.m * each.n)), got(c.size(), 1e9);
    for (auto& value : a) value = small_number(a_type, random());
    for (auto& value : b) value = small_number(a_type, random());
    for (auto& value : c) value = static_cast<int>(random() % 17) - 8;
    Fragment fa(map_a.registers), fb(map_b.registers), fc(map_c.registers), fd(map_d.registers);
    const auto visit = [](const FragmentMap& map, auto f) {
      for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < map.registers * map.elements_per_register; ++i) {
          int row = -1, column = -1;
          map.place(lane, i, &row, &column);
          f(lane, i, row, column);
        }
    };
    visit(map_a, [&](int lane, int i, int row, int column) {
      fa.put(lane, bits_of_type(a_type), i, pattern(a_type, a.at(static_cast<std::size_t>(row * each.k + column))));
    });
    visit(map_b, [&](int lane, int i, int row, int column) {
      fb.put(lane, bits_of_type(a_type), i, pattern(a_type, b.at(static_cast<std::size_t>(row * each.n + column))));
    });
    visit(map_c, [&](int lane, int i, int row, int column) {
      fc.put(lane, bits_of_type(c_type), i, pattern(c_type, c.at(static_cast<std::size_t>(row * each.n + column))));
    });
    LaneExtra extra;
    extra.immediate = semantics.immediate;
    semantics.fragment(fd.places.data(), fa.sources(), fb.sources(), fc.sources(), extra);
    visit(map_d, [&](int lane, int i, int row, int column) {
      got.at(static_cast<std::size_t>(row * each.n + column)) = number(c_type, fd.get(lane, bits_of_type(c_type), i));
    });
    for (int row = 0; row < each.m; ++row)
      for (int column = 0; column < each.n; ++column) {
        double expected = c[static_cast<std::size_t>(row * each.n + column)];
        for (int p = 0; p < each.k; ++p)
          expected += a[static_cast<std::size_t>(row * each.k + p)] * b[static_cast<std::size_t>(p * each.n + column)];
        if (c_type == "f16") expected = static_cast<double>(host::round_to(expected, host::kHalf, FE_TONEAREST));
        ASSERT_EQ(got[static_cast<std::size_t>(row * each.n + column)], expected) << shape << a_type << c_type;
      }
  }
  for (const char* name : {"wmma.load.a.sync.aligned.row.m16n16k16.f64", "wmma.load.a.sync.aligned.m16n16k16.f16",
                           "wmma.load.q.sync.aligned.row.m16n16k16.f16", "mma.load.a.sync.aligned.row.m16n16k16.f16"})
    EXPECT_EQ(map_of(name).place, nullptr) << name;
}

TEST(Matrix, Movmatrix) {
  const Semantics semantics = matrix_semantics_of("movmatrix.sync.aligned.m8n8.trans.b16");
  ASSERT_NE(semantics.fragment, nullptr);
  Fragment a(1), d(1);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 2; ++i) a.put(lane, 16, i, static_cast<std::uint64_t>(lane / 4 * 100 + lane % 4 * 2 + i));
  semantics.fragment(d.places.data(), a.sources(), nullptr, nullptr, LaneExtra{});
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 2; ++i) EXPECT_EQ(d.get(lane, 16, i), static_cast<std::uint64_t>((lane % 4 * 2 + i) * 100 + lane / 4));
}

// A whole product on a Device with fragments loaded, multiplied and stored by PTX.
TEST(Matrix, WmmaKernelOnADevice) {
  Device device;
  const auto module = device.load(R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{
  .reg .b32 %r<40>;
  .reg .f32 %f<20>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [pa];
  ld.param.u64 %d1, [pb];
  ld.param.u64 %d2, [pd];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r30, 16;
  wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d0], %r30;
  wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, [%d1], %r30;
  mov.f32 %f0, 0f3F800000;
  wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8},
    {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15},
    {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};
  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d2], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r30;
  ret;
}
)",
                                  "product");
  ASSERT_TRUE(module) << module.error().message;
  std::byte* memory[3] = {};
  const std::size_t sizes[3] = {512, 512, 1024};
  for (int i = 0; i < 3; ++i) {
    auto got = device.allocate(sizes[i], "matrix");
    ASSERT_TRUE(got);
    memory[i] = *got;
  }
  std::mt19937 random(17);
  double a[16][16], b[16][16];
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      a[i][j] = small_number("f16", random());
      b[i][j] = small_number("f16", random());
      const auto x = static_cast<std::uint16_t>(pattern("f16", a[i][j])), y = static_cast<std::uint16_t>(pattern("f16", b[i][j]));
      std::memcpy(memory[0] + 2 * (16 * i + j), &x, 2);
      std::memcpy(memory[1] + 2 * (16 * j + i), &y, 2);  // columns of b one after the other
    }
  device.note_host_write(memory[0], 512);
  device.note_host_write(memory[1], 512);
  const auto function = device.kernel(**module, "product");
  ASSERT_TRUE(function);
  std::byte params[24];
  std::memcpy(params, memory, 24);
  const auto report = device.launch(**function, {1, 1, 1}, {32, 1, 1}, 0, params);
  ASSERT_TRUE(report) << report.error().message;
  for (const Finding& finding : report->findings) ADD_FAILURE() << finding.kind << ", " << finding.message;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      double expected = 1;
      for (int p = 0; p < 16; ++p) expected += a[i][p] * b[p][j];
      float got = 0;
      std::memcpy(&got, memory[2] + 4 * (16 * i + j), 4);
      ASSERT_EQ(got, expected) << i << ' ' << j;
    }
}

}  // namespace
}  // namespace kw::vgpu
