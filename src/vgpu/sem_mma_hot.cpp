// mma.sync and wmma.mma on the fragments of a whole warp: gathered into small dense matrices, multiplied with SIMD along the
// columns, scattered. Products of float16, bfloat16, tf32 and 8-bit inputs are exact in float32; sums are float32, rounded to the
// nearest at each step, in the order c, k = 0, 1, 2, ...; a float16 result is rounded once more. Integers wrap around unless
// .satfinite.
#include "vgpu/sem_cvt.h"
#include "vgpu/sem_fragment.h"

namespace kw::vgpu::KW_ISA {
namespace {

constexpr int kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 64;
constexpr Type kElementTypes[] = {Type::f16, Type::bf16, Type::tf32, Type::e4m3, Type::e5m2,
                                  Type::u8,  Type::s8,   Type::u4,   Type::s4,   Type::b1};

std::uint32_t element_index(Type type) {
  for (std::uint32_t i = 0; i < std::size(kElementTypes); ++i)
    if (kElementTypes[i] == type) return i;
  return 15;
}

struct Shape {
  explicit Shape(std::uint32_t code)
      : m(static_cast<int>(code & 7) * 8),
        n(static_cast<int>(code >> 3 & 7) * 8),
        k(static_cast<int>(code >> 6 & 0x1ff)),
        a(kElementTypes[code >> 15 & 15]),
        b(kElementTypes[code >> 19 & 15]),
        half_c((code >> 23 & 1) != 0),
        half_d((code >> 24 & 1) != 0),
        saturate((code >> 25 & 1) != 0),
        bit_and((code >> 26 & 1) != 0),
        a_column((code >> 27 & 1) != 0),
        b_row((code >> 28 & 1) != 0) {}
  static std::uint32_t code(const MatrixMode& mode) {
    const auto flag = [](bool set, int at) { return static_cast<std::uint32_t>(set) << at; };
    const std::uint32_t a_index = mode.a == Type::f64 ? 0 : element_index(mode.a),
                        b_index = mode.b == Type::f64 ? 0 : element_index(mode.b);
    return static_cast<std::uint32_t>(mode.m / 8) | static_cast<std::uint32_t>(mode.n / 8) << 3 |
           static_cast<std::uint32_t>(mode.k) << 6 | a_index << 15 | b_index << 19 | flag(mode.c == Type::f16, 23) |
           flag(mode.d == Type::f16, 24) | flag(mode.saturate, 25) | flag(mode.bit_and, 26) | flag(mode.a_column, 27) |
           flag(mode.b_row, 28);
  }
  int m, n, k;
  Type a, b;
  bool half_c, half_d, saturate, bit_and, a_column, b_row;
};

// One register of a or b as its block of 8 x 4E numbers.
void expand_block(Type type, const void* lanes, float* block) {
  const auto* words32 = words<std::uint32_t>(lanes);
  const auto* bytes = static_cast<const std::uint8_t*>(lanes);
  switch (type) {
    case Type::f16:
      return HalfFormat::widen(lanes, block);
    case Type::bf16:
      return BfloatFormat::widen(lanes, block);
    case Type::tf32:
      for (int i = 0; i < kLanes; ++i) block[i] = bits_as<float>(words32[i] & 0xffffe000U);  // the unit ignores the lower 13 bits
      return;
    default:
      for (int i = 0; i < 4 * kLanes; ++i) block[i] = small_to_float(bytes[i], type == Type::e4m3 ? kE4m3 : kE5m2);
  }
}
void expand_block(Type type, const void* lanes, std::int32_t* block) {
  const auto* bytes = static_cast<const std::uint8_t*>(lanes);
  switch (type) {
    case Type::u8:
      for (int i = 0; i < 4 * kLanes; ++i) block[i] = bytes[i];
      return;
    case Type::s8:
      for (int i = 0; i < 4 * kLanes; ++i) block[i] = static_cast<std::int8_t>(bytes[i]);
      return;
    default:
      break;
  }
  for (int i = 0; i < 8 * kLanes; ++i) {
    const std::int32_t nibble = bytes[i / 2] >> (4 * (i & 1)) & 15;
    block[i] = type == Type::s4 && nibble > 7 ? nibble - 16 : nibble;
  }
}
void expand_block(Type, const void* lanes, double* block) { std::memcpy(block, lanes, sizeof(double) * kLanes); }

template <typename T>
struct Dense {
  alignas(64) T a[kMaxRows * kMaxDepth];     // m x k
  alignas(64) T b[kMaxDepth * kMaxColumns];  // k x n
  alignas(64) T c[kMaxRows * kMaxColumns];   // m x n
};

template <typename T>
void gather_operands(const Shape& shape, const void* const* a, const void* const* b, Dense<T>& dense, Type a_type, Type b_type) {
  alignas(64) T block[8 * kLanes];
  const int a_width = 4 * elements_per_register(a_type), b_width = 4 * elements_per_register(b_type);
  const BlockOrder rows{shape.m / 8};
  for (int r = 0; r < operand_registers(shape.m, shape.k, a_type); ++r) {
    expand_block(a_type, a[r], block);
    for (int g = 0; g < 8; ++g)
      std::memcpy(&dense.a[(rows.row_of(r) + g) * shape.k + rows.along_of(r, a_width)], &block[g * a_width], sizeof(T) * a_width);
  }
  // Of b the blocks go along k first.
  const int along = shape.k / b_width;
  for (int r = 0; r < operand_registers(shape.n, shape.k, b_type); ++r) {
    expand_block(b_type, b[r], block);
    T* to = &dense.b[(r % along * b_width) * shape.n + r / along * 8];
    for (int i = 0; i < b_width; ++i)
      for (int g = 0; g < 8; ++g) to[i * shape.n + g] = block[g * b_width + i];
  }
}

template <typename T>
using Row8 __attribute__((vector_size(8 * sizeof(T)))) = T;

// c += a * b, four rows and eight columns at a time.
template <typename T>
void multiply(const Shape& shape, Dense<T>& dense) {
  using Row = Row8<T>;
  for (int i = 0; i < shape.m; i += 4) {
    for (int j = 0; j < shape.n; j += 8) {
      Row sums[4];
      for (int r = 0; r < 4; ++r) std::memcpy(&sums[r], &dense.c[(i + r) * shape.n + j], sizeof(Row));
      const T* left = &dense.a[i * shape.k];
      for (int p = 0; p < shape.k; ++p) {
        Row right;
        std::memcpy(&right, &dense.b[p * shape.n + j], sizeof(Row));
        for (int r = 0; r < 4; ++r) sums[r] += left[r * shape.k + p] * right;
      }
      for (int r = 0; r < 4; ++r) std::memcpy(&dense.c[(i + r) * shape.n + j], &sums[r], sizeof(Row));
    }
  }
}

// Accumulators: pairs of registers, or one of two float16, to and from the rows of c.
template <typename T>
void gather_accumulators(const Shape& shape, const void* const* c, T* dense) {
  const BlockOrder rows{shape.m / 8};
  for (int p = 0; p < shape.m * shape.n / 64; ++p) {
    T* to = dense + rows.row_of(p) * shape.n + rows.along_of(p, 8);
    const auto *even = words<T>(c[2 * p]), *odd = words<T>(c[2 * p + 1]);
    for (int lane = 0; lane < kLanes; ++lane) {
      T* pair = to + lane / 4 * shape.n + lane % 4 * 2;
      pair[0] = from_word<T>(even[lane]);
      pair[1] = from_word<T>(odd[lane]);
    }
  }
}
template <typename T>
void scatter_accumulators(const Shape& shape, const T* dense, void* const* d) {
  const BlockOrder rows{shape.m / 8};
  for (int p = 0; p < shape.m * shape.n / 64; ++p) {
    const T* from = dense + rows.row_of(p) * shape.n + rows.along_of(p, 8);
    auto *even = words<T>(d[2 * p]), *odd = words<T>(d[2 * p + 1]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const T* pair = from + lane / 4 * shape.n + lane % 4 * 2;
      even[lane] = to_word<T>(pair[0]);
      odd[lane] = to_word<T>(pair[1]);
    }
  }
}
void gather_half_accumulators(const Shape& shape, const void* const* c, float* dense) {
  const BlockOrder rows{shape.m / 8};
  alignas(64) float block[kHalves];
  for (int p = 0; p < shape.m * shape.n / 64; ++p) {
    HalfFormat::widen(c[p], block);
    for (int g = 0; g < 8; ++g)
      std::memcpy(dense + (rows.row_of(p) + g) * shape.n + rows.along_of(p, 8), block + 8 * g, 8 * sizeof(float));
  }
}
void scatter_half_accumulators(const Shape& shape, const float* dense, void* const* d) {
  const BlockOrder rows{shape.m / 8};
  alignas(64) float block[kHalves];
  for (int p = 0; p < shape.m * shape.n / 64; ++p) {
    for (int g = 0; g < 8; ++g)
      std::memcpy(block + 8 * g, dense + (rows.row_of(p) + g) * shape.n + rows.along_of(p, 8), 8 * sizeof(float));
    HalfFormat::narrow(block, d[p]);
  }
}

void float_matrix(void* const* d, const void* const* a, const void* const* b, const void* const* c, const LaneExtra& extra) {
  const Shape shape(extra.immediate);
  Dense<float> dense;
  gather_operands(shape, a, b, dense, shape.a, shape.b);
  shape.half_c ? gather_half_accumulators(shape, c, dense.c) : gather_accumulators(shape, c, dense.c);
  multiply(shape, dense);
  if (shape.half_d) return scatter_half_accumulators(shape, dense.c, d);
  for (int i = 0; i < shape.m * shape.n; ++i) dense.c[i] = canonical(dense.c[i]);
  scatter_accumulators(shape, dense.c, d);
}

void double_matrix(void* const* d, const void* const* a, const void* const* b, const void* const* c, const LaneExtra& extra) {
  const Shape shape(extra.immediate);
  Dense<double> dense;
  gather_operands(shape, a, b, dense, Type::f64, Type::f64);
  gather_accumulators(shape, c, dense.c);
  for (int i = 0; i < shape.m; ++i)
    for (int p = 0; p < shape.k; ++p)
      for (int j = 0; j < shape.n; ++j)
        dense.c[i * shape.n + j] = __builtin_fma(dense.a[i * shape.k + p], dense.b[p * shape.n + j], dense.c[i * shape.n + j]);
  scatter_accumulators(shape, dense.c, d);
}

// The product by itself fits into 32 bits; saturation is about adding it.
void add_products(const Shape& shape, const void* const* c, std::int32_t* products) {
  alignas(64) std::int32_t before[kMaxRows * kMaxColumns];
  gather_accumulators(shape, c, before);
  for (int i = 0; i < shape.m * shape.n; ++i) {
    const std::int64_t sum = std::int64_t{before[i]} + products[i];
    const std::int64_t kept = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
    products[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(shape.saturate ? kept : sum));
  }
}
void integer_matrix(void* const* d, const void* const* a, const void* const* b, const void* const* c, const LaneExtra& extra) {
  const Shape shape(extra.immediate);
  Dense<std::int32_t> dense;
  gather_operands(shape, a, b, dense, shape.a, shape.b);
  for (int i = 0; i < shape.m * shape.n; ++i) dense.c[i] = 0;
  multiply(shape, dense);
  add_products(shape, c, dense.c);
  scatter_accumulators(shape, dense.c, d);
}

// Bits: the number of those set in a xor b, or in a and b. A register of a is 8 rows of four words.
void bit_matrix(void* const* d, const void* const* a, const void* const* b, const void* const* c, const LaneExtra& extra) {
  const Shape shape(extra.immediate);
  alignas(64) std::int32_t products[kMaxRows * kMaxColumns] = {};
  const BlockOrder rows{shape.m / 8};
  for (int r = 0; r < operand_registers(shape.m, shape.k, Type::b1); ++r) {
    const auto *left = words<std::uint32_t>(a[r]), *right = words<std::uint32_t>(b[r / rows.row_blocks]);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        for (int t = 0; t < 4; ++t) {
          const std::uint32_t x = left[4 * i + t], y = right[4 * j + t];
          products[(rows.row_of(r) + i) * shape.n + j] += __builtin_popcount(shape.bit_and ? x & y : x ^ y);
        }
  }
  add_products(shape, c, products);
  scatter_accumulators(shape, products, d);
}

// m8n8k4 of float16: four products at once, each by a pair of quads: lanes 4q..4q+3 and 16+4q..16+4q+3.
void quad_pair_matrix(void* const* d, const void* const* a, const void* const* b, const void* const* c, const LaneExtra& extra) {
  const Shape shape(extra.immediate);
  alignas(64) float a_values[2][kHalves], b_values[2][kHalves], c_values[4][kHalves], left[4][8][4], right[4][4][8], sums[4][8][8];
  for (int r = 0; r < 2; ++r) HalfFormat::widen(a[r], a_values[r]), HalfFormat::widen(b[r], b_values[r]);
  if (shape.half_c)
    for (int r = 0; r < 4; ++r) HalfFormat::widen(c[r], c_values[r]);
  const auto place = [](bool half, int lane, int i, int* row, int* column) {
    const int upper = lane < 16 ? 0 : 4;
    *row = half ? lane % 4 + upper : (lane & 1) + (i & 2) + upper;
    *column = half ? i : (i & 4) + (lane & 2) + (i & 1);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const int quad = lane % 16 / 4, upper = lane < 16 ? 0 : 4;
    for (int i = 0; i < 4; ++i) {
      const float x = a_values[i / 2][2 * lane + i % 2], y = b_values[i / 2][2 * lane + i % 2];
      shape.a_column ? left[quad][i + upper][lane % 4] = x : left[quad][lane % 4 + upper][i] = x;
      shape.b_row ? right[quad][lane % 4][i + upper] = y : right[quad][i][lane % 4 + upper] = y;
    }
    for (int i = 0; i < 8; ++i) {
      int row = 0, column = 0;
      place(shape.half_c, lane, i, &row, &column);
      sums[quad][row][column] = shape.half_c ? c_values[i / 2][2 * lane + i % 2] : bits_as<float>(words<float>(c[i])[lane]);
    }
  }
  for (int q = 0; q < 4; ++q)
    for (int i = 0; i < 8; ++i)
      for (int p = 0; p < 4; ++p)
        for (int j = 0; j < 8; ++j) sums[q][i][j] += left[q][i][p] * right[q][p][j];
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 8; ++i) {
      int row = 0, column = 0;
      place(shape.half_d, lane, i, &row, &column);
      const float value = canonical(sums[lane % 16 / 4][row][column]);
      if (shape.half_d)
        c_values[i / 2][2 * lane + i % 2] = value;
      else
        words<float>(d[i])[lane] = bits_as<std::uint32_t>(value);
    }
  }
  if (shape.half_d)
    for (int r = 0; r < 4; ++r) HalfFormat::narrow(c_values[r], d[r]);
}

// movmatrix: an 8 x 8 matrix of 16-bit elements, transposed.
void transposed_matrix(void* const* d, const void* const* a, const void* const*, const void* const*, const LaneExtra&) {
  std::uint16_t from[8][8], to[8][8];
  std::memcpy(from, a[0], sizeof from);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) to[j][i] = from[i][j];
  std::memcpy(d[0], to, sizeof to);
}

}  // namespace

FragmentFn matrix_fragment(const MatrixMode& mode, std::uint32_t* immediate) {
  *immediate = Shape::code(mode);
  if (mode.a == Type::f64) return double_matrix;
  if (mode.a == Type::b1) return bit_matrix;
  if (mode.a == Type::f16 && mode.m == 8 && mode.n == 8) return quad_pair_matrix;
  const bool integers = mode.a == Type::u8 || mode.a == Type::s8 || mode.a == Type::u4 || mode.a == Type::s4;
  return integers ? integer_matrix : float_matrix;
}

FragmentFn transpose_fragment() { return transposed_matrix; }

}  // namespace kw::vgpu::KW_ISA
