// What the *_hot.cpp files offer to the tables of instructions: loops over lanes by operation and type. Declared once for any
// processor and once for AVX2; hot() is the set that runs here.
#pragma once

#include "vgpu/isa.h"
#include "vgpu/lanes.h"

namespace kw::vgpu {

enum class Round : std::uint8_t { none, rn, rna, rz, rm, rp, rni, rzi, rmi, rpi };

enum class IntegerOp : std::uint8_t {
  add,
  add_sat,
  sub,
  sub_sat,
  mul_lo,
  mul_hi,
  mul_wide,
  mad_lo,
  mad_hi,
  mad_hi_sat,
  mad_wide,
  mul24_lo,
  mul24_hi,
  mad24_lo,
  mad24_hi,
  mad24_hi_sat,
  sad,
  div,
  rem,
  abs,
  neg,
  min,
  max,
  min_relu,
  max_relu,
  shl,
  shr,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  cnot,
  add_cc,
  addc,
  addc_cc,
  sub_cc,
  subc,
  subc_cc,
  mad_lo_cc,
  madc_lo,
  madc_lo_cc,
  mad_hi_cc,
  madc_hi,
  madc_hi_cc,
};

enum class BitOp : std::uint8_t {
  popc,
  clz,
  bfind,
  bfind_shift,
  fns,
  brev,
  bfe,
  bfi,
  bmsk_clamp,
  bmsk_wrap,
  szext_clamp,
  szext_wrap,
  shf_l_clamp,
  shf_l_wrap,
  shf_r_clamp,
  shf_r_wrap,
  lop3,
  prmt,
  prmt_f4e,
  prmt_b4e,
  prmt_rc8,
  prmt_ecl,
  prmt_ecr,
  prmt_rc16,
  dp4a_uu,
  dp4a_us,
  dp4a_su,
  dp4a_ss,
  dp2a_lo_uu,
  dp2a_lo_us,
  dp2a_lo_su,
  dp2a_lo_ss,
  dp2a_hi_uu,
  dp2a_hi_us,
  dp2a_hi_su,
  dp2a_hi_ss,
};

// Instructions on the bytes or halves of a word, all of them selected: vadd4, vabsdiff2, ...
enum class PackedOp : std::uint8_t { vadd, vsub, vavrg, vabsdiff, vmin, vmax };

enum class FloatOp : std::uint8_t {
  add,
  sub,
  mul,
  fma,
  div,
  div_approx,
  rcp,
  sqrt,
  abs,
  neg,
  min,
  max,
  ex2,
  lg2,
  sin,
  cos,
  rcp_approx,
  sqrt_approx,
  rsqrt_approx,
  tanh,
};

// How a floating point operation is done. Round::none is .rn or, for approximations, nothing.
struct FloatMode {
  Round round = Round::rn;
  bool ftz = false, sat = false, relu = false, nan = false, xorsign = false;
};

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Combine : std::uint8_t { none, bit_and, bit_or, bit_xor };

// The immediate of setp and set.
constexpr std::uint32_t compare_code(Compare compare, Combine combine, bool ftz) {
  return static_cast<std::uint32_t>(compare) | static_cast<std::uint32_t>(combine) << 8 | static_cast<std::uint32_t>(ftz) << 16;
}

enum class Property : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

// The immediate of cvt.
struct ConvertMode {
  Type to = Type::none, from = Type::none;
  Round round = Round::none;
  bool ftz = false, sat = false, relu = false, satfinite = false;
  [[nodiscard]] constexpr std::uint32_t code() const {
    return static_cast<std::uint32_t>(to) | static_cast<std::uint32_t>(from) << 8 | static_cast<std::uint32_t>(round) << 16 |
           static_cast<std::uint32_t>(ftz) << 24 | static_cast<std::uint32_t>(sat) << 25 | static_cast<std::uint32_t>(relu) << 26 |
           static_cast<std::uint32_t>(satfinite) << 27;
  }
  static constexpr ConvertMode of(std::uint32_t code) {
    const auto bit = [code](int at) { return (code >> at & 1) != 0; };
    return {static_cast<Type>(code & 0xff),
            static_cast<Type>(code >> 8 & 0xff),
            static_cast<Round>(code >> 16 & 0xff),
            bit(24),
            bit(25),
            bit(26),
            bit(27)};
  }
};

// The immediate of mma and wmma.mma: extents and the types of a, b and of the accumulators.
struct MatrixMode {
  int m = 0, n = 0, k = 0;
  Type a = Type::none, b = Type::none, c = Type::none, d = Type::none;
  bool saturate = false, bit_and = false;
  bool a_column = false, b_row = false;  // only m8n8k4 of f16 has the choice
};

#define KW_HOT_FUNCTIONS                                                                     \
  LaneFn integer_lane(IntegerOp op, Type type); /* nullptr where the pair isn't supported */ \
  LaneFn bit_lane(BitOp op, Type type);                                                      \
  LaneFn packed_lane(PackedOp op, Type type, bool saturate, bool accumulate);                \
  LaneFn float_lane(FloatOp op, Type type, FloatMode mode);                                  \
  LaneFn half_lane(FloatOp op, Type type, FloatMode mode);                                   \
  LaneFn special_lane(FloatOp op, Type type, FloatMode mode);                                \
  LaneFn setp_lane(Type type);         /* immediate: compare_code */                         \
  LaneFn set_lane(Type to, Type from); /* immediate: compare_code */                         \
  LaneFn selp_lane(Type type);                                                               \
  LaneFn slct_lane(Type type, Type condition, bool ftz);                                     \
  LaneFn testp_lane(Property property, Type type);                                           \
  LaneFn copysign_lane(Type type);                                                           \
  LaneFn convert_lane(ConvertMode mode); /* immediate: mode.code() */                        \
  LaneFn convert_pack_lane(Type to);     /* cvt.pack.sat.to.s32 */                           \
  FragmentFn matrix_fragment(const MatrixMode& mode, std::uint32_t* immediate);              \
  FragmentFn transpose_fragment(); /* movmatrix */

namespace portable {
KW_HOT_FUNCTIONS
}
#if defined(KW_VGPU_AVX2) || defined(__AVX2__)
namespace avx2 {
KW_HOT_FUNCTIONS
}
#endif
#undef KW_HOT_FUNCTIONS

// Set to true, what is looked up from then on is compiled for any processor. For tests, and to see whether a difference comes from
// AVX2.
bool& portable_only();  // sem_table.cpp

}  // namespace kw::vgpu

// KW_HOT(integer_lane)(op, type): of the set that runs here.
#if defined(KW_VGPU_AVX2)
#define KW_HOT(function) \
  (kw::vgpu::avx2_usable() && !kw::vgpu::portable_only() ? kw::vgpu::avx2::function : kw::vgpu::portable::function)
#else
#define KW_HOT(function) (kw::vgpu::portable::function)
#endif
