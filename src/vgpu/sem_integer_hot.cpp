// Loops of integer arithmetic and of logic. Everything wraps around unless it says that it saturates.
#include <limits>

#include "vgpu/sem_hot.h"
#include "vgpu/sem_lane.h"

namespace kw::vgpu::KW_ISA {
namespace {

template <typename T>
struct WiderOf;
template <>
struct WiderOf<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct WiderOf<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct WiderOf<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct WiderOf<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct WiderOf<std::uint64_t> {
  using type = UWide;
};
template <>
struct WiderOf<std::int64_t> {
  using type = Wide;
};

template <typename T>
struct Integer {
  using U = std::make_unsigned_t<T>;
  using Wider = typename WiderOf<T>::type;
  static constexpr int kBits = sizeof(T) * 8;
  static constexpr T kLowest = std::numeric_limits<T>::min(), kHighest = std::numeric_limits<T>::max();

  // Arithmetic in 32 bits at least and without sign: it wraps around.
  using Work = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  KW_ELEMENT static T wrap(Work value) { return static_cast<T>(value); }
  KW_ELEMENT static Work work(T value) { return static_cast<Work>(value); }

  KW_ELEMENT static T clamped(Wider value) {
    return value < Wider{kLowest} ? kLowest : value > Wider{kHighest} ? kHighest : static_cast<T>(value);
  }

  KW_ELEMENT static T add(T a, T b) { return wrap(work(a) + work(b)); }
  KW_ELEMENT static T sub(T a, T b) { return wrap(work(a) - work(b)); }
  KW_ELEMENT static T add_sat(T a, T b) { return clamped(Wider{a} + Wider{b}); }
  KW_ELEMENT static T sub_sat(T a, T b) { return clamped(Wider{a} - Wider{b}); }
  KW_ELEMENT static T mul_lo(T a, T b) { return wrap(work(a) * work(b)); }
  KW_ELEMENT static T mul_hi(T a, T b) { return static_cast<T>((Wider{a} * Wider{b}) >> kBits); }
  KW_ELEMENT static T mad_lo(T a, T b, T c) { return wrap(work(a) * work(b) + work(c)); }
  KW_ELEMENT static T mad_hi(T a, T b, T c) { return add(mul_hi(a, b), c); }
  KW_ELEMENT static T mad_hi_sat(T a, T b, T c) { return add_sat(mul_hi(a, b), c); }
  KW_ELEMENT static T sad(T a, T b, T c) { return wrap((a < b ? work(b) - work(a) : work(a) - work(b)) + work(c)); }
  // PTX leaves division by zero open; all ones and the dividend are what the hardware's sequences give.
  KW_ELEMENT static T div(T a, T b) {
    if (b == 0) return static_cast<T>(~U{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return wrap(Work{0} - work(a));
    return static_cast<T>(a / b);
  }
  KW_ELEMENT static T rem(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
  KW_ELEMENT static T neg(T a) { return wrap(Work{0} - work(a)); }
  KW_ELEMENT static T abs(T a) { return a < 0 ? neg(a) : a; }
  KW_ELEMENT static T min(T a, T b) { return a < b ? a : b; }
  KW_ELEMENT static T max(T a, T b) { return a > b ? a : b; }
  KW_ELEMENT static T min_relu(T a, T b) { return max(min(a, b), 0); }
  KW_ELEMENT static T max_relu(T a, T b) { return max(max(a, b), 0); }
  // Shifts by the width or more give zero, or the sign.
  KW_ELEMENT static T shl(T a, std::uint32_t by) { return by >= kBits ? T{0} : wrap(work(a) << (by & (kBits - 1))); }
  KW_ELEMENT static T shr(T a, std::uint32_t by) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (by >= kBits ? kBits - 1 : by));
    else
      return by >= kBits ? T{0} : static_cast<T>(a >> (by & (kBits - 1)));
  }
  KW_ELEMENT static T bit_and(T a, T b) { return static_cast<T>(a & b); }
  KW_ELEMENT static T bit_or(T a, T b) { return static_cast<T>(a | b); }
  KW_ELEMENT static T bit_xor(T a, T b) { return static_cast<T>(a ^ b); }
  KW_ELEMENT static T bit_not(T a) { return static_cast<T>(~a); }
  KW_ELEMENT static T cnot(T a) { return a == 0 ? 1 : 0; }
};

// Products of the lower 24 bits; .hi is the upper 32 of 48.
template <typename T>
struct Low24 {
  KW_ELEMENT static std::int64_t operand(T value) {
    return std::is_signed_v<T> ? static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8) >> 8)
                               : static_cast<std::int64_t>(static_cast<std::uint32_t>(value) & 0xffffffU);
  }
  KW_ELEMENT static T lo(T a, T b) { return static_cast<T>(operand(a) * operand(b)); }
  KW_ELEMENT static T hi(T a, T b) { return static_cast<T>((operand(a) * operand(b)) >> 16); }
  KW_ELEMENT static T mad_lo(T a, T b, T c) { return Integer<T>::add(lo(a, b), c); }
  KW_ELEMENT static T mad_hi(T a, T b, T c) { return Integer<T>::add(hi(a, b), c); }
  KW_ELEMENT static T mad_hi_sat(T a, T b, T c) { return Integer<T>::add_sat(hi(a, b), c); }
};

template <typename T>
struct Widening {
  using Wider = typename WiderOf<T>::type;
  KW_ELEMENT static Wider mul(T a, T b) { return Wider{a} * Wider{b}; }
  KW_ELEMENT static Wider mad(T a, T b, Wider c) { return Integer<Wider>::add(Wider{a} * Wider{b}, c); }
};

// add.cc and its family: the carry of each lane is a bit of *extra.carry. A borrow is a carry, too.
enum class Chain : std::uint8_t { add, sub, mad_lo, mad_hi };
template <typename T, Chain C, bool In, bool Out>
void chained(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra) {
  auto* d = words<T>(dst);
  const auto *x = words<T>(a), *y = words<T>(b), *z = static_cast<const Word<T>*>(c);
  const std::uint32_t carry = *extra.carry;
  std::uint32_t carry_out = 0;
  for (int i = 0; i < kLanes; ++i) {
    const T in = In ? static_cast<T>(carry >> i & 1U) : T{0};
    T left = from_word<T>(x[i]), right = from_word<T>(y[i]);
    if constexpr (C == Chain::mad_lo) left = Integer<T>::mul_lo(left, right), right = from_word<T>(z[i]);
    if constexpr (C == Chain::mad_hi) left = Integer<T>::mul_hi(left, right), right = from_word<T>(z[i]);
    using U = std::make_unsigned_t<T>;
    const U p = static_cast<U>(left), q = static_cast<U>(right), cin = static_cast<U>(in);
    U result = 0;
    bool overflow = false;
    if constexpr (C == Chain::sub) {
      result = p - q - cin;
      overflow = p < q || (p == q && cin != 0);
    } else {
      const U partial = p + q;
      result = partial + cin;
      overflow = partial < p || result < partial;
    }
    d[i] = to_word<T>(static_cast<T>(result));
    carry_out |= static_cast<std::uint32_t>(overflow) << i;
  }
  if (Out) *extra.carry = carry_out;
}

template <typename T>
LaneFn chained_lane(IntegerOp op) {
  switch (op) {
    case IntegerOp::add_cc:
      return chained<T, Chain::add, false, true>;
    case IntegerOp::addc:
      return chained<T, Chain::add, true, false>;
    case IntegerOp::addc_cc:
      return chained<T, Chain::add, true, true>;
    case IntegerOp::sub_cc:
      return chained<T, Chain::sub, false, true>;
    case IntegerOp::subc:
      return chained<T, Chain::sub, true, false>;
    case IntegerOp::subc_cc:
      return chained<T, Chain::sub, true, true>;
    case IntegerOp::mad_lo_cc:
      return chained<T, Chain::mad_lo, false, true>;
    case IntegerOp::madc_lo:
      return chained<T, Chain::mad_lo, true, false>;
    case IntegerOp::madc_lo_cc:
      return chained<T, Chain::mad_lo, true, true>;
    case IntegerOp::mad_hi_cc:
      return chained<T, Chain::mad_hi, false, true>;
    case IntegerOp::madc_hi:
      return chained<T, Chain::mad_hi, true, false>;
    case IntegerOp::madc_hi_cc:
      return chained<T, Chain::mad_hi, true, true>;
    default:
      return nullptr;
  }
}

template <typename T>
LaneFn arithmetic_of(IntegerOp op) {
  using I = Integer<T>;
  switch (op) {
    case IntegerOp::add:
      return lanes<I::add>;
    case IntegerOp::sub:
      return lanes<I::sub>;
    case IntegerOp::mul_lo:
      return lanes<I::mul_lo>;
    case IntegerOp::mul_hi:
      return lanes<I::mul_hi>;
    case IntegerOp::mad_lo:
      return lanes<I::mad_lo>;
    case IntegerOp::mad_hi:
      return lanes<I::mad_hi>;
    case IntegerOp::sad:
      return lanes<I::sad>;
    case IntegerOp::div:
      return lanes<I::div>;
    case IntegerOp::rem:
      return lanes<I::rem>;
    case IntegerOp::min:
      return lanes<I::min>;
    case IntegerOp::max:
      return lanes<I::max>;
    case IntegerOp::shr:
      return lanes<I::shr>;
    default:
      break;
  }
  if constexpr (std::is_signed_v<T>) {
    if (op == IntegerOp::abs) return lanes<I::abs>;
    if (op == IntegerOp::neg) return lanes<I::neg>;
  }
  if constexpr (sizeof(T) < 8) {
    if (op == IntegerOp::mul_wide) return lanes<Widening<T>::mul>;
    if (op == IntegerOp::mad_wide) return lanes<Widening<T>::mad>;
  }
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (op == IntegerOp::add_sat) return lanes<I::add_sat>;
    if (op == IntegerOp::sub_sat) return lanes<I::sub_sat>;
    if (op == IntegerOp::mad_hi_sat) return lanes<I::mad_hi_sat>;
    if (op == IntegerOp::min_relu) return lanes<I::min_relu>;
    if (op == IntegerOp::max_relu) return lanes<I::max_relu>;
    if (op == IntegerOp::mad24_hi_sat) return lanes<Low24<T>::mad_hi_sat>;
  }
  if constexpr (sizeof(T) == 4) {
    if (op == IntegerOp::mul24_lo) return lanes<Low24<T>::lo>;
    if (op == IntegerOp::mul24_hi) return lanes<Low24<T>::hi>;
    if (op == IntegerOp::mad24_lo) return lanes<Low24<T>::mad_lo>;
    if (op == IntegerOp::mad24_hi) return lanes<Low24<T>::mad_hi>;
  }
  if constexpr (sizeof(T) > 2) return chained_lane<T>(op);
  return nullptr;
}

template <typename T>
LaneFn logic_of(IntegerOp op) {
  using I = Integer<T>;
  switch (op) {
    case IntegerOp::bit_and:
      return lanes<I::bit_and>;
    case IntegerOp::bit_or:
      return lanes<I::bit_or>;
    case IntegerOp::bit_xor:
      return lanes<I::bit_xor>;
    case IntegerOp::bit_not:
      return lanes<I::bit_not>;
    case IntegerOp::cnot:
      return lanes<I::cnot>;
    case IntegerOp::shl:
      return lanes<I::shl>;
    case IntegerOp::shr:
      return lanes<I::shr>;
    default:
      return nullptr;
  }
}

// Two 16-bit integers in a lane.
template <typename T>
LaneFn pair_of(IntegerOp op) {
  using I = Integer<T>;
  switch (op) {
    case IntegerOp::add:
      return &Loop16<I::add, T, 2>::run;
    case IntegerOp::sub:
      return &Loop16<I::sub, T, 2>::run;
    case IntegerOp::min:
      return &Loop16<I::min, T, 2>::run;
    case IntegerOp::max:
      return &Loop16<I::max, T, 2>::run;
    default:
      break;
  }
  if constexpr (std::is_signed_v<T>) {
    if (op == IntegerOp::neg) return &Loop16<I::neg, T, 1>::run;
    if (op == IntegerOp::min_relu) return &Loop16<I::min_relu, T, 2>::run;
    if (op == IntegerOp::max_relu) return &Loop16<I::max_relu, T, 2>::run;
  }
  return nullptr;
}

}  // namespace

LaneFn integer_lane(IntegerOp op, Type type) {
  switch (type) {
    case Type::b16:
      return logic_of<std::uint16_t>(op);
    case Type::b32:
      return logic_of<std::uint32_t>(op);
    case Type::b64:
      return logic_of<std::uint64_t>(op);
    case Type::u16:
      return arithmetic_of<std::uint16_t>(op);
    case Type::s16:
      return arithmetic_of<std::int16_t>(op);
    case Type::u32:
      return arithmetic_of<std::uint32_t>(op);
    case Type::s32:
      return arithmetic_of<std::int32_t>(op);
    case Type::u64:
      return arithmetic_of<std::uint64_t>(op);
    case Type::s64:
      return arithmetic_of<std::int64_t>(op);
    case Type::u16x2:
      return pair_of<std::uint16_t>(op);
    case Type::s16x2:
      return pair_of<std::int16_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace kw::vgpu::KW_ISA
