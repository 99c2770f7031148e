// Loops of float32 and float64 arithmetic.
#include "vgpu/sem_float.h"

namespace kw::vgpu::KW_ISA {
namespace {

template <typename T, Round R, bool Ftz, bool Sat>
struct Arithmetic {
  KW_ELEMENT static T in(T x) { return flush_if<Ftz>(x); }
  KW_ELEMENT static T out(T x) { return finished<Ftz, Sat>(x); }
  KW_ELEMENT static T add(T a, T b) { return out(sum<R>(in(a), in(b))); }
  KW_ELEMENT static T sub(T a, T b) { return out(sum<R>(in(a), -in(b))); }
  KW_ELEMENT static T mul(T a, T b) { return out(product<R>(in(a), in(b))); }
  KW_ELEMENT static T fma(T a, T b, T c) { return out(fused<R>(in(a), in(b), in(c))); }
  KW_ELEMENT static T div(T a, T b) { return out(quotient<R>(in(a), in(b))); }
  KW_ELEMENT static T rcp(T a) { return out(quotient<R>(T(1), in(a))); }
  KW_ELEMENT static T sqrt(T a) { return out(square_root<R>(in(a))); }
};

template <typename T, Round R, bool Ftz, bool Sat>
LaneFn rounded_lane(FloatOp op) {
  using Elements = Arithmetic<T, R, Ftz, Sat>;
  switch (op) {
    case FloatOp::add:
      return lanes<Elements::add>;
    case FloatOp::sub:
      return lanes<Elements::sub>;
    case FloatOp::mul:
      return lanes<Elements::mul>;
    case FloatOp::fma:
      return lanes<Elements::fma>;
    default:
      break;
  }
  if constexpr (!Sat) {
    switch (op) {
      case FloatOp::div:
        return lanes<Elements::div>;
      case FloatOp::rcp:
        return lanes<Elements::rcp>;
      case FloatOp::sqrt:
        return lanes<Elements::sqrt>;
      default:
        break;
    }
  }
  return nullptr;
}

template <typename T, bool Ftz, bool Sat>
LaneFn arithmetic_lane(FloatOp op, Round round) {
  switch (round) {
    case Round::none:
    case Round::rn:
      return rounded_lane<T, Round::rn, Ftz, Sat>(op);
    case Round::rz:
      return rounded_lane<T, Round::rz, Ftz, Sat>(op);
    case Round::rm:
      return rounded_lane<T, Round::rm, Ftz, Sat>(op);
    case Round::rp:
      return rounded_lane<T, Round::rp, Ftz, Sat>(op);
    default:
      return nullptr;
  }
}

template <typename T, bool Ftz>
KW_ELEMENT T negative_of(T a) {
  a = flush_if<Ftz>(a);
  return bits_as<T>(static_cast<Word<T>>(bits_as<Word<T>>(a) ^ ~(~Word<T>{0} >> 1)));
}
template <typename T, bool Ftz>
KW_ELEMENT T absolute_of(T a) {
  return magnitude(flush_if<Ftz>(a));
}
template <typename T, bool Ftz, bool Nan, bool Max, bool Xorsign>
KW_ELEMENT T extremum_of(T a, T b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  if constexpr (Xorsign) return with_sign_of_both(extremum<Nan, Max>(magnitude(a), magnitude(b)), a, b);
  return extremum<Nan, Max>(a, b);
}

template <bool Ftz, bool Nan>
LaneFn extremum_lane(FloatOp op, bool xorsign) {
  switch (op) {
    case FloatOp::min:
      return xorsign ? lanes<extremum_of<float, Ftz, Nan, false, true>> : lanes<extremum_of<float, Ftz, Nan, false, false>>;
    case FloatOp::max:
      return xorsign ? lanes<extremum_of<float, Ftz, Nan, true, true>> : lanes<extremum_of<float, Ftz, Nan, true, false>>;
    default:
      return nullptr;
  }
}

LaneFn lane_f32(FloatOp op, FloatMode mode) {
  switch (op) {
    case FloatOp::abs:
      return mode.ftz ? lanes<absolute_of<float, true>> : lanes<absolute_of<float, false>>;
    case FloatOp::neg:
      return mode.ftz ? lanes<negative_of<float, true>> : lanes<negative_of<float, false>>;
    case FloatOp::min:
    case FloatOp::max:
      if (mode.ftz) return mode.nan ? extremum_lane<true, true>(op, mode.xorsign) : extremum_lane<true, false>(op, mode.xorsign);
      return mode.nan ? extremum_lane<false, true>(op, mode.xorsign) : extremum_lane<false, false>(op, mode.xorsign);
    default:
      break;
  }
  if (mode.ftz)
    return mode.sat ? arithmetic_lane<float, true, true>(op, mode.round) : arithmetic_lane<float, true, false>(op, mode.round);
  return mode.sat ? arithmetic_lane<float, false, true>(op, mode.round) : arithmetic_lane<float, false, false>(op, mode.round);
}

LaneFn lane_f64(FloatOp op, FloatMode mode) {
  if (mode.ftz || mode.sat || mode.nan || mode.xorsign) return nullptr;
  switch (op) {
    case FloatOp::abs:
      return lanes<absolute_of<double, false>>;
    case FloatOp::neg:
      return lanes<negative_of<double, false>>;
    case FloatOp::min:
      return lanes<extremum_of<double, false, false, false, false>>;
    case FloatOp::max:
      return lanes<extremum_of<double, false, false, true, false>>;
    default:
      return arithmetic_lane<double, false, false>(op, mode.round);
  }
}

// Two float32 in a lane of 64 bits: 64 floats one after the other.
template <FloatOp O, Round R, bool Ftz>
void packed_f32(void* dst, const void* a, const void* b, const void* c, const LaneExtra&) {
  auto* d = words<float>(dst);
  const auto *x = words<float>(a), *y = words<float>(b), *z = static_cast<const std::uint32_t*>(c);
  using Elements = Arithmetic<float, R, Ftz, false>;
  KW_LANE_LOOP for (int i = 0; i < 2 * kLanes; ++i) {
    const float p = bits_as<float>(x[i]), q = bits_as<float>(y[i]);
    float result = 0;
    if constexpr (O == FloatOp::add) result = Elements::add(p, q);
    if constexpr (O == FloatOp::sub) result = Elements::sub(p, q);
    if constexpr (O == FloatOp::mul) result = Elements::mul(p, q);
    if constexpr (O == FloatOp::fma) result = Elements::fma(p, q, bits_as<float>(z[i]));
    d[i] = bits_as<std::uint32_t>(result);
  }
}
template <Round R, bool Ftz>
LaneFn packed_f32_lane(FloatOp op) {
  switch (op) {
    case FloatOp::add:
      return packed_f32<FloatOp::add, R, Ftz>;
    case FloatOp::sub:
      return packed_f32<FloatOp::sub, R, Ftz>;
    case FloatOp::mul:
      return packed_f32<FloatOp::mul, R, Ftz>;
    case FloatOp::fma:
      return packed_f32<FloatOp::fma, R, Ftz>;
    default:
      return nullptr;
  }
}
template <Round R>
LaneFn packed_f32_lane(FloatOp op, bool ftz) {
  return ftz ? packed_f32_lane<R, true>(op) : packed_f32_lane<R, false>(op);
}

}  // namespace

LaneFn float_lane(FloatOp op, Type type, FloatMode mode) {
  if (mode.relu) return nullptr;
  if (type == Type::f32) return lane_f32(op, mode);
  if (type == Type::f64) return lane_f64(op, mode);
  if (type != Type::f32x2 || mode.sat || mode.nan || mode.xorsign) return nullptr;
  switch (mode.round) {
    case Round::none:
    case Round::rn:
      return packed_f32_lane<Round::rn>(op, mode.ftz);
    case Round::rz:
      return packed_f32_lane<Round::rz>(op, mode.ftz);
    case Round::rm:
      return packed_f32_lane<Round::rm>(op, mode.ftz);
    case Round::rp:
      return packed_f32_lane<Round::rp>(op, mode.ftz);
    default:
      return nullptr;
  }
}

}  // namespace kw::vgpu::KW_ISA
