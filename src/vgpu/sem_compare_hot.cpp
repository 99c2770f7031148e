// Loops of comparison and selection: setp, set, selp, slct, testp, copysign. Predicates are masks with a bit a lane.
#include "vgpu/sem_half.h"

namespace kw::vgpu::KW_ISA {
namespace {

template <typename T, typename Test>
std::uint32_t lanes_where(const T* a, const T* b, Test test) {
  alignas(64) std::uint32_t flags[kLanes];
  for (int i = 0; i < kLanes; ++i) flags[i] = test(a[i], b[i]) ? ~0U : 0U;
  return pack_mask(flags);
}

// Comparisons are false when an operand is a NaN; their unordered forms are the opposites of opposites.
template <typename T>
std::uint32_t compared(Compare compare, const T* a, const T* b) {
  switch (compare) {
    case Compare::eq:
      return lanes_where(a, b, [](T x, T y) { return x == y; });
    case Compare::neu:
      return lanes_where(a, b, [](T x, T y) { return x != y; });
    case Compare::lt:
      return lanes_where(a, b, [](T x, T y) { return x < y; });
    case Compare::le:
      return lanes_where(a, b, [](T x, T y) { return x <= y; });
    case Compare::gt:
      return lanes_where(a, b, [](T x, T y) { return x > y; });
    case Compare::ge:
      return lanes_where(a, b, [](T x, T y) { return x >= y; });
    case Compare::ltu:
      return ~compared(Compare::ge, a, b);
    case Compare::leu:
      return ~compared(Compare::gt, a, b);
    case Compare::gtu:
      return ~compared(Compare::le, a, b);
    case Compare::geu:
      return ~compared(Compare::lt, a, b);
    case Compare::num:
      return lanes_where(a, b, [](T x, T y) { return x == x && y == y; });
    case Compare::nan:
      return ~compared(Compare::num, a, b);
    case Compare::ne:
      if constexpr (std::is_floating_point_v<T>)
        return compared(Compare::neu, a, b) & compared(Compare::num, a, b);
      else
        return compared(Compare::neu, a, b);
    case Compare::equ:
      return compared(Compare::eq, a, b) | compared(Compare::nan, a, b);
  }
  return 0;
}

struct Code {
  explicit Code(std::uint32_t code)
      : compare(static_cast<Compare>(code & 0xff)), combine(static_cast<Combine>(code >> 8 & 0xff)), ftz((code >> 16 & 1) != 0) {}
  [[nodiscard]] std::uint32_t combined(std::uint32_t mask, const void* with) const {
    if (combine == Combine::none) return mask;
    const std::uint32_t other = *static_cast<const std::uint32_t*>(with);
    return combine == Combine::bit_and ? mask & other : combine == Combine::bit_or ? mask | other : mask ^ other;
  }
  Compare compare;
  Combine combine;
  bool ftz;
};

// Which lanes compare true; of packed types `high` gets the upper halves.
template <typename T>
std::uint32_t compare_lanes(const Code& code, const void* a, const void* b, std::uint32_t* /*high*/) {
  if constexpr (sizeof(T) < 4) {
    alignas(64) T x[kLanes], y[kLanes];
    for (int i = 0; i < kLanes; ++i) x[i] = from_word<T>(words<T>(a)[i]), y[i] = from_word<T>(words<T>(b)[i]);
    return compared(code.compare, x, y);
  } else if (std::is_floating_point_v<T> && code.ftz) {
    alignas(64) T x[kLanes], y[kLanes];
    for (int i = 0; i < kLanes; ++i)
      x[i] = flush_if<true>(from_word<T>(words<T>(a)[i])), y[i] = flush_if<true>(from_word<T>(words<T>(b)[i]));
    return compared(code.compare, x, y);
  } else {
    return compared(code.compare, static_cast<const T*>(__builtin_assume_aligned(a, 64)),
                    static_cast<const T*>(__builtin_assume_aligned(b, 64)));
  }
}
template <typename F>
std::uint32_t compare_halves(const Code& code, const void* a, const void* b, std::uint32_t* high) {
  alignas(64) float x[kHalves], y[kHalves], low_x[kLanes], low_y[kLanes], high_x[kLanes], high_y[kLanes];
  F::widen(a, x);
  F::widen(b, y);
  const float tiny = code.ftz ? (F::is_half ? 0x1p-14F : 0x1p-126F) : 0.0F;
  for (int i = 0; i < kHalves; ++i) x[i] = magnitude(x[i]) < tiny ? 0.0F : x[i], y[i] = magnitude(y[i]) < tiny ? 0.0F : y[i];
  for (int i = 0; i < kLanes; ++i) {
    low_x[i] = x[2 * i], high_x[i] = x[2 * i + 1];
    low_y[i] = y[2 * i], high_y[i] = y[2 * i + 1];
  }
  if (high != nullptr) *high = compared(code.compare, high_x, high_y);
  return compared(code.compare, low_x, low_y);
}

using CompareFn = std::uint32_t (*)(const Code&, const void*, const void*, std::uint32_t*);

// p = (a cmp b) op c, q = !(a cmp b) op c; of packed types p is about the lower halves and q about the upper ones.
template <CompareFn F, bool Packed>
void setp_lanes(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra) {
  const Code code(extra.immediate);
  std::uint32_t high = 0;
  const std::uint32_t mask = F(code, a, b, Packed ? &high : nullptr);
  const std::uint32_t second = Packed ? high : ~mask;
  const std::uint32_t p = code.combined(mask, c), q = code.combined(second, c);
  *static_cast<std::uint32_t*>(dst) = p;
  if (extra.dst2 != nullptr) *static_cast<std::uint32_t*>(extra.dst2) = q;
}

// True is `One` in a lane; of packed types in each half.
template <CompareFn F, bool Packed, std::uint32_t One>
void set_lanes(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra) {
  const Code code(extra.immediate);
  std::uint32_t high = 0;
  const std::uint32_t low = code.combined(F(code, a, b, Packed ? &high : nullptr), c);
  high = code.combined(high, c);
  auto* d = words<std::uint32_t>(dst);
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t result = (low >> i & 1U) != 0 ? One : 0U;
    d[i] = Packed ? (result & 0xffffU) | ((high >> i & 1U) != 0 ? One << 16 : 0U) : result;
  }
}

template <CompareFn F, bool Packed>
LaneFn set_lane_to(Type to) {
  switch (to) {
    case Type::u32:
    case Type::s32:
      return set_lanes<F, false, 0xffffffffU>;
    case Type::f32:
      return set_lanes<F, false, 0x3f800000U>;
    case Type::u16:
    case Type::s16:
      return set_lanes<F, false, 0xffffU>;
    case Type::f16:
      return set_lanes<F, false, 0x3c00U>;
    case Type::bf16:
      return set_lanes<F, false, 0x3f80U>;
    case Type::f16x2:
      return Packed ? set_lanes<F, Packed, 0x3c00U> : nullptr;
    case Type::bf16x2:
      return Packed ? set_lanes<F, Packed, 0x3f80U> : nullptr;
    default:
      return nullptr;
  }
}

template <CompareFn F, bool Packed = false>
LaneFn compare_lane(Type to) {
  if (to == Type::pred) return setp_lanes<F, Packed>;
  if (Packed && (to == Type::u32 || to == Type::s32)) return set_lanes<F, Packed, 0xffffU>;
  return set_lane_to<F, Packed>(to);
}

LaneFn compare_lane_of(Type to, Type from) {
  switch (from) {
    case Type::b16:
    case Type::u16:
      return compare_lane<compare_lanes<std::uint16_t>>(to);
    case Type::s16:
      return compare_lane<compare_lanes<std::int16_t>>(to);
    case Type::b32:
    case Type::u32:
      return compare_lane<compare_lanes<std::uint32_t>>(to);
    case Type::s32:
      return compare_lane<compare_lanes<std::int32_t>>(to);
    case Type::b64:
    case Type::u64:
      return compare_lane<compare_lanes<std::uint64_t>>(to);
    case Type::s64:
      return compare_lane<compare_lanes<std::int64_t>>(to);
    case Type::f32:
      return compare_lane<compare_lanes<float>>(to);
    case Type::f64:
      return compare_lane<compare_lanes<double>>(to);
    case Type::f16:
      return compare_lane<compare_halves<HalfFormat>>(to);
    case Type::bf16:
      return compare_lane<compare_halves<BfloatFormat>>(to);
    case Type::f16x2:
      return compare_lane<compare_halves<HalfFormat>, true>(to);
    case Type::bf16x2:
      return compare_lane<compare_halves<BfloatFormat>, true>(to);
    default:
      return nullptr;
  }
}

template <typename T>
void selp_lanes(void* dst, const void* a, const void* b, const void* p, const LaneExtra&) {
  auto* d = words<T>(dst);
  const auto *x = words<T>(a), *y = words<T>(b);
  const std::uint32_t mask = *static_cast<const std::uint32_t*>(p);
  KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1U) != 0 ? x[i] : y[i];
}

template <typename T, typename C, bool Ftz>
KW_ELEMENT T selected_by_sign(T a, T b, C c) {
  if constexpr (Ftz) c = flushed(c);
  return c >= 0 ? a : b;
}

template <typename T, Property P>
void testp_lanes(void* dst, const void* a, const void*, const void*, const LaneExtra&) {
  constexpr Word<T> kExponent = sizeof(T) == 4 ? 0x7f800000U : static_cast<Word<T>>(0x7ff0000000000000ULL);
  alignas(64) std::uint32_t flags[kLanes];
  const auto* x = words<T>(a);
  for (int i = 0; i < kLanes; ++i) {
    const Word<T> rest = x[i] & (~Word<T>{0} >> 1), exponent = rest & kExponent;
    bool holds = false;
    if constexpr (P == Property::finite) holds = exponent != kExponent;
    if constexpr (P == Property::infinite) holds = rest == kExponent;
    if constexpr (P == Property::number) holds = rest <= kExponent;
    if constexpr (P == Property::notanumber) holds = rest > kExponent;
    if constexpr (P == Property::normal) holds = exponent != 0 && exponent != kExponent;
    if constexpr (P == Property::subnormal) holds = exponent == 0 && rest != 0;
    flags[i] = holds ? ~0U : 0U;
  }
  *static_cast<std::uint32_t*>(dst) = pack_mask(flags);
}
template <typename T>
LaneFn testp_lane_of(Property property) {
  switch (property) {
    case Property::finite:
      return testp_lanes<T, Property::finite>;
    case Property::infinite:
      return testp_lanes<T, Property::infinite>;
    case Property::number:
      return testp_lanes<T, Property::number>;
    case Property::notanumber:
      return testp_lanes<T, Property::notanumber>;
    case Property::normal:
      return testp_lanes<T, Property::normal>;
    case Property::subnormal:
      return testp_lanes<T, Property::subnormal>;
  }
  return nullptr;
}

template <typename T>
KW_ELEMENT T sign_of_first(T a, T b) {
  const T sign = static_cast<T>(~(~T{0} >> 1));
  return (a & sign) | (b & static_cast<T>(~sign));
}

}  // namespace

LaneFn setp_lane(Type type) { return compare_lane_of(Type::pred, type); }
LaneFn set_lane(Type to, Type from) { return to == Type::pred ? nullptr : compare_lane_of(to, from); }

LaneFn selp_lane(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
      return selp_lanes<std::uint32_t>;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return selp_lanes<std::uint64_t>;
    default:
      return nullptr;
  }
}

LaneFn slct_lane(Type type, Type condition, bool ftz) {
  const bool wide = type == Type::b64 || type == Type::u64 || type == Type::s64 || type == Type::f64;
  if (selp_lane(type) == nullptr) return nullptr;
  if (condition == Type::s32 && !ftz)
    return wide ? lanes<selected_by_sign<std::uint64_t, std::int32_t, false>>
                : lanes<selected_by_sign<std::uint32_t, std::int32_t, false>>;
  if (condition != Type::f32) return nullptr;
  if (ftz) return wide ? lanes<selected_by_sign<std::uint64_t, float, true>> : lanes<selected_by_sign<std::uint32_t, float, true>>;
  return wide ? lanes<selected_by_sign<std::uint64_t, float, false>> : lanes<selected_by_sign<std::uint32_t, float, false>>;
}

LaneFn testp_lane(Property property, Type type) {
  if (type == Type::f32) return testp_lane_of<float>(property);
  return type == Type::f64 ? testp_lane_of<double>(property) : nullptr;
}

LaneFn copysign_lane(Type type) {
  if (type == Type::f32) return lanes<sign_of_first<std::uint32_t>>;
  return type == Type::f64 ? lanes<sign_of_first<std::uint64_t>> : nullptr;
}

}  // namespace kw::vgpu::KW_ISA
