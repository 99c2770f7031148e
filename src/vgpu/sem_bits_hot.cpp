// Loops of instructions that move bits: counting, fields, funnel shifts, permutation, look-up, small dot products, bytes.
#include "vgpu/sem_hot.h"
#include "vgpu/sem_lane.h"

namespace kw::vgpu::KW_ISA {
namespace {

template <typename T>
struct Bits {
  using U = std::make_unsigned_t<T>;
  static constexpr std::uint32_t kBits = sizeof(T) * 8;

  KW_ELEMENT static std::uint32_t popc(T a) { return static_cast<std::uint32_t>(__builtin_popcountll(static_cast<U>(a))); }
  KW_ELEMENT static std::uint32_t clz(T a) {
    const U value = static_cast<U>(a);
    return value == 0 ? kBits : static_cast<std::uint32_t>(__builtin_clzll(value)) - (64 - kBits);
  }
  // The highest bit that isn't a copy of the sign; all ones where there is none.
  KW_ELEMENT static std::uint32_t bfind(T a) {
    const U value = std::is_signed_v<T> && a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
    return value == 0 ? ~0U : kBits - 1 - clz(static_cast<T>(value));
  }
  KW_ELEMENT static std::uint32_t bfind_shift(T a) {
    const std::uint32_t at = bfind(a);
    return at == ~0U ? at : kBits - 1 - at;
  }
  KW_ELEMENT static T brev(T a) {
    std::uint64_t value = static_cast<U>(a);
    value = (value >> 1 & 0x5555555555555555ULL) | (value & 0x5555555555555555ULL) << 1;
    value = (value >> 2 & 0x3333333333333333ULL) | (value & 0x3333333333333333ULL) << 2;
    value = (value >> 4 & 0x0f0f0f0f0f0f0f0fULL) | (value & 0x0f0f0f0f0f0f0f0fULL) << 4;
    return static_cast<T>(__builtin_bswap64(value) >> (64 - kBits));
  }
  // Position and length are bytes. Bits beyond the top are the sign of the field's highest bit, or of the value's.
  KW_ELEMENT static T bfe(T a, std::uint32_t position, std::uint32_t length) {
    const std::uint32_t pos = position & 0xff, len = length & 0xff;
    const U value = static_cast<U>(a);
    const U shifted = pos >= kBits ? U{0} : value >> pos;
    const U mask = len >= kBits ? ~U{0} : (U{1} << len) - 1;
    const std::uint32_t sign_at = pos + len - 1 < kBits - 1 ? pos + len - 1 : kBits - 1;
    const bool negative = std::is_signed_v<T> && len != 0 && (value >> sign_at & 1) != 0;
    // Inside the value and inside the field; everything else is filled.
    const U inside = mask & (pos >= kBits ? U{0} : ~U{0} >> pos);
    return static_cast<T>((shifted & inside) | (negative ? static_cast<U>(~inside) : U{0}));
  }
  KW_ELEMENT static T bfi(T a, T b, std::uint32_t position, std::uint32_t length) {
    const std::uint32_t pos = position & 0xff, len = length & 0xff;
    if (pos >= kBits) return b;
    const U mask = (len >= kBits ? ~U{0} : (U{1} << len) - 1) << pos;
    return static_cast<T>((static_cast<U>(b) & ~mask) | ((static_cast<U>(a) << pos) & mask));
  }
  KW_ELEMENT static T szext_wrap(T a, std::uint32_t width) { return bfe(a, 0, width & (kBits - 1)); }
  KW_ELEMENT static T szext_clamp(T a, std::uint32_t width) { return bfe(a, 0, width > kBits ? kBits : width); }
};

// The offset-th bit that is set at or above base (below it for negative offsets); offset 0 is the bit at base itself.
KW_ELEMENT std::uint32_t fns_of(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1U) != 0 ? base : ~0U;
  auto at = static_cast<std::int32_t>(base);
  std::int64_t left = offset < 0 ? -static_cast<std::int64_t>(offset) : offset;
  const std::int32_t step = offset < 0 ? -1 : 1;
  for (; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1U) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
  return ~0U;
}
KW_ELEMENT std::uint32_t low_ones(std::uint32_t count) { return count >= 32 ? ~0U : (1U << count) - 1U; }
KW_ELEMENT std::uint32_t bmsk_clamp_of(std::uint32_t from, std::uint32_t width) {
  const std::uint32_t a = from > 32 ? 32 : from, b = width > 32 ? 32 : width;
  return a >= 32 ? 0U : low_ones(b) << a;
}
KW_ELEMENT std::uint32_t bmsk_wrap_of(std::uint32_t from, std::uint32_t width) { return low_ones(width & 31) << (from & 31); }

template <bool Left, bool Clamp>
KW_ELEMENT std::uint32_t funnel(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  const std::uint32_t n = Clamp ? (by > 32 ? 32 : by) : by & 31;
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return Left ? static_cast<std::uint32_t>((both << n) >> 32) : static_cast<std::uint32_t>(both >> n);
}

void lop3_lanes(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra) {
  auto* d = words<std::uint32_t>(dst);
  const auto *x = words<std::uint32_t>(a), *y = words<std::uint32_t>(b), *z = words<std::uint32_t>(c);
  const std::uint32_t table = *static_cast<const std::uint32_t*>(extra.d);
  std::uint32_t row[8];
  for (int i = 0; i < 8; ++i) row[i] = 0U - (table >> i & 1U);
  KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t p = x[i], q = y[i], r = z[i];
    const std::uint32_t zero = (row[0] & ~r) | (row[1] & r), one = (row[2] & ~r) | (row[3] & r);
    const std::uint32_t two = (row[4] & ~r) | (row[5] & r), three = (row[6] & ~r) | (row[7] & r);
    d[i] = (((zero & ~q) | (one & q)) & ~p) | (((two & ~q) | (three & q)) & p);
  }
}

// Byte `index` (three bits) of b:a; bit 3 asks for its sign eight times.
KW_ELEMENT std::uint32_t picked_byte(std::uint64_t both, std::uint32_t selector) {
  const auto byte = static_cast<std::uint32_t>(both >> (8 * (selector & 7))) & 0xffU;
  return (selector & 8) != 0 ? ((byte & 0x80U) != 0 ? 0xffU : 0U) : byte;
}
KW_ELEMENT std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  return picked_byte(both, selectors) | picked_byte(both, selectors >> 4) << 8 | picked_byte(both, selectors >> 8) << 16 |
         picked_byte(both, selectors >> 12) << 24;
}
// Most programs permute by a constant: then shifts are the same for all lanes.
void prmt_lanes(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra) {
  const auto* selectors = words<std::uint32_t>(c);
  std::uint32_t different = 0;
  for (int i = 1; i < kLanes; ++i) different |= (selectors[i] ^ selectors[0]) & 0xffffU;
  if (different != 0 || (selectors[0] & 0x8888U) != 0) return lanes<permuted>(dst, a, b, c, extra);
  auto* d = words<std::uint32_t>(dst);
  const auto *x = words<std::uint32_t>(a), *y = words<std::uint32_t>(b);
  const std::uint32_t all = selectors[0];
  std::uint32_t from_b[4], shift[4];
  for (int i = 0; i < 4; ++i) {
    from_b[i] = 0U - (all >> (4 * i + 2) & 1U);
    shift[i] = 8 * (all >> (4 * i) & 3U);
  }
  KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t p = x[i], q = y[i];
    const std::uint32_t b0 = ((p & ~from_b[0]) | (q & from_b[0])) >> shift[0] & 0xffU,
                        b1 = ((p & ~from_b[1]) | (q & from_b[1])) >> shift[1] & 0xffU;
    const std::uint32_t b2 = ((p & ~from_b[2]) | (q & from_b[2])) >> shift[2] & 0xffU,
                        b3 = ((p & ~from_b[3]) | (q & from_b[3])) >> shift[3] & 0xffU;
    d[i] = b0 | b1 << 8 | b2 << 16 | b3 << 24;
  }
}
template <BitOp O>
KW_ELEMENT std::uint32_t permuted_by_mode(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t n = c & 3;
  std::uint32_t selectors = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::uint32_t pick = 0;
    if constexpr (O == BitOp::prmt_f4e) pick = n + i;
    if constexpr (O == BitOp::prmt_b4e) pick = (n - i) & 7;
    if constexpr (O == BitOp::prmt_rc8) pick = n;
    if constexpr (O == BitOp::prmt_ecl) pick = i < n ? n : i;
    if constexpr (O == BitOp::prmt_ecr) pick = i < n ? i : n;
    if constexpr (O == BitOp::prmt_rc16) pick = (n & 1) * 2 + (i & 1);
    selectors |= pick << (4 * i);
  }
  return permuted(a, b, selectors);
}

template <bool SignedA, bool SignedB>
struct Dot {
  KW_ELEMENT static std::int32_t byte(std::uint32_t word, int i, bool is_signed) {
    const std::uint32_t value = word >> (8 * i) & 0xffU;
    return is_signed ? static_cast<std::int8_t>(value) : static_cast<std::int32_t>(value);
  }
  KW_ELEMENT static std::int32_t half(std::uint32_t word, int i) {
    const std::uint32_t value = word >> (16 * i) & 0xffffU;
    return SignedA ? static_cast<std::int16_t>(value) : static_cast<std::int32_t>(value);
  }
  KW_ELEMENT static std::uint32_t four(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(byte(a, i, SignedA) * byte(b, i, SignedB));
    return c;
  }
  template <bool High>
  KW_ELEMENT static std::uint32_t two(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int i = 0; i < 2; ++i) c += static_cast<std::uint32_t>(half(a, i) * byte(b, i + (High ? 2 : 0), SignedB));
    return c;
  }
};

template <typename T>
LaneFn typed_bit_lane(BitOp op) {
  using B = Bits<T>;
  switch (op) {
    case BitOp::bfind:
      return lanes<B::bfind>;
    case BitOp::bfind_shift:
      return lanes<B::bfind_shift>;
    case BitOp::bfe:
      return lanes<B::bfe>;
    default:
      break;
  }
  if constexpr (sizeof(T) == 4) {
    if (op == BitOp::szext_clamp) return lanes<B::szext_clamp>;
    if (op == BitOp::szext_wrap) return lanes<B::szext_wrap>;
  }
  return nullptr;
}
template <typename T>
LaneFn untyped_bit_lane(BitOp op) {
  using B = Bits<T>;
  switch (op) {
    case BitOp::popc:
      return lanes<B::popc>;
    case BitOp::clz:
      return lanes<B::clz>;
    case BitOp::brev:
      return lanes<B::brev>;
    case BitOp::bfi:
      return lanes<B::bfi>;
    default:
      return nullptr;
  }
}
LaneFn word_lane(BitOp op) {
  switch (op) {
    case BitOp::fns:
      return lanes<fns_of>;
    case BitOp::bmsk_clamp:
      return lanes<bmsk_clamp_of>;
    case BitOp::bmsk_wrap:
      return lanes<bmsk_wrap_of>;
    case BitOp::shf_l_clamp:
      return lanes<funnel<true, true>>;
    case BitOp::shf_l_wrap:
      return lanes<funnel<true, false>>;
    case BitOp::shf_r_clamp:
      return lanes<funnel<false, true>>;
    case BitOp::shf_r_wrap:
      return lanes<funnel<false, false>>;
    case BitOp::lop3:
      return lop3_lanes;
    case BitOp::prmt:
      return lanes<permuted>;
    case BitOp::prmt_f4e:
      return lanes<permuted_by_mode<BitOp::prmt_f4e>>;
    case BitOp::prmt_b4e:
      return lanes<permuted_by_mode<BitOp::prmt_b4e>>;
    case BitOp::prmt_rc8:
      return lanes<permuted_by_mode<BitOp::prmt_rc8>>;
    case BitOp::prmt_ecl:
      return lanes<permuted_by_mode<BitOp::prmt_ecl>>;
    case BitOp::prmt_ecr:
      return lanes<permuted_by_mode<BitOp::prmt_ecr>>;
    case BitOp::prmt_rc16:
      return lanes<permuted_by_mode<BitOp::prmt_rc16>>;
    case BitOp::dp4a_uu:
      return lanes<Dot<false, false>::four>;
    case BitOp::dp4a_us:
      return lanes<Dot<false, true>::four>;
    case BitOp::dp4a_su:
      return lanes<Dot<true, false>::four>;
    case BitOp::dp4a_ss:
      return lanes<Dot<true, true>::four>;
    case BitOp::dp2a_lo_uu:
      return lanes<Dot<false, false>::two<false>>;
    case BitOp::dp2a_lo_us:
      return lanes<Dot<false, true>::two<false>>;
    case BitOp::dp2a_lo_su:
      return lanes<Dot<true, false>::two<false>>;
    case BitOp::dp2a_lo_ss:
      return lanes<Dot<true, true>::two<false>>;
    case BitOp::dp2a_hi_uu:
      return lanes<Dot<false, false>::two<true>>;
    case BitOp::dp2a_hi_us:
      return lanes<Dot<false, true>::two<true>>;
    case BitOp::dp2a_hi_su:
      return lanes<Dot<true, false>::two<true>>;
    case BitOp::dp2a_hi_ss:
      return lanes<Dot<true, true>::two<true>>;
    default:
      return nullptr;
  }
}

// vadd4, vabsdiff2, ...: parts of a word side by side; with `accumulate` the results are summed onto c.
template <typename T, PackedOp O, bool Saturate>
KW_ELEMENT int packed_part(int a, int b) {
  constexpr int kLow = std::is_signed_v<T> ? -(1 << (sizeof(T) * 8 - 1)) : 0;
  constexpr int kHigh = kLow + (1 << (sizeof(T) * 8)) - 1;
  int r = 0;
  if constexpr (O == PackedOp::vadd) r = a + b;
  if constexpr (O == PackedOp::vsub) r = a - b;
  if constexpr (O == PackedOp::vavrg) r = a + b >= 0 || !std::is_signed_v<T> ? (a + b + 1) >> 1 : (a + b) >> 1;
  if constexpr (O == PackedOp::vabsdiff) r = a < b ? b - a : a - b;
  if constexpr (O == PackedOp::vmin) r = a < b ? a : b;
  if constexpr (O == PackedOp::vmax) r = a > b ? a : b;
  if constexpr (Saturate) r = r < kLow ? kLow : r > kHigh ? kHigh : r;
  return r;
}
template <typename T, PackedOp O, bool Saturate, bool Accumulate>
KW_ELEMENT std::uint32_t packed_word(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr int kBits = sizeof(T) * 8;
  constexpr std::uint32_t kMask = (1U << kBits) - 1U;
  std::uint32_t word = 0, total = c;
  for (int i = 0; i < 32 / kBits; ++i) {
    const int part = packed_part<T, O, Saturate>(static_cast<T>(a >> (kBits * i)), static_cast<T>(b >> (kBits * i)));
    if constexpr (Accumulate)
      total += static_cast<std::uint32_t>(part);
    else
      word |= (static_cast<std::uint32_t>(part) & kMask) << (kBits * i);
  }
  return Accumulate ? total : word;
}
template <typename T, PackedOp O>
LaneFn packed_lane_of(bool saturate, bool accumulate) {
  if (accumulate) return saturate ? nullptr : lanes<packed_word<T, O, false, true>>;
  return saturate ? lanes<packed_word<T, O, true, false>> : lanes<packed_word<T, O, false, false>>;
}
template <typename T>
LaneFn packed_lane_of(PackedOp op, bool saturate, bool accumulate) {
  switch (op) {
    case PackedOp::vadd:
      return packed_lane_of<T, PackedOp::vadd>(saturate, accumulate);
    case PackedOp::vsub:
      return packed_lane_of<T, PackedOp::vsub>(saturate, accumulate);
    case PackedOp::vavrg:
      return packed_lane_of<T, PackedOp::vavrg>(saturate, accumulate);
    case PackedOp::vabsdiff:
      return packed_lane_of<T, PackedOp::vabsdiff>(saturate, accumulate);
    case PackedOp::vmin:
      return packed_lane_of<T, PackedOp::vmin>(saturate, accumulate);
    case PackedOp::vmax:
      return packed_lane_of<T, PackedOp::vmax>(saturate, accumulate);
  }
  return nullptr;
}

}  // namespace

LaneFn bit_lane(BitOp op, Type type) {
  if (type == Type::b32)
    if (const LaneFn found = word_lane(op)) return found;
  switch (type) {
    case Type::b32:
      return untyped_bit_lane<std::uint32_t>(op);
    case Type::b64:
      return untyped_bit_lane<std::uint64_t>(op);
    case Type::u32:
      return typed_bit_lane<std::uint32_t>(op);
    case Type::s32:
      return typed_bit_lane<std::int32_t>(op);
    case Type::u64:
      return typed_bit_lane<std::uint64_t>(op);
    case Type::s64:
      return typed_bit_lane<std::int64_t>(op);
    default:
      return nullptr;
  }
}

LaneFn packed_lane(PackedOp op, Type type, bool saturate, bool accumulate) {
  switch (type) {
    case Type::u8x4:
      return packed_lane_of<std::uint8_t>(op, saturate, accumulate);
    case Type::s8x4:
      return packed_lane_of<std::int8_t>(op, saturate, accumulate);
    case Type::u16x2:
      return packed_lane_of<std::uint16_t>(op, saturate, accumulate);
    case Type::s16x2:
      return packed_lane_of<std::int16_t>(op, saturate, accumulate);
    default:
      return nullptr;
  }
}

}  // namespace kw::vgpu::KW_ISA
