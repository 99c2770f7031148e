// One step of an atomic or a reduction: bits of the old value and of the operand in, bits of the new value out.
#include "vgpu/sem_half.h"

namespace kw::vgpu {
namespace {

template <typename T>
T value_of(std::uint64_t bits) {
  return portable::from_word<T>(static_cast<portable::Word<T>>(bits));
}
template <typename T>
std::uint64_t bits_of(T value) {
  return portable::to_word<T>(value);
}

template <typename T>
struct AtomicStep {
  static std::uint64_t add(std::uint64_t old, std::uint64_t value) {
    if constexpr (std::is_floating_point_v<T>) return bits_of<T>(portable::canonical(value_of<T>(old) + value_of<T>(value)));
    return bits_of<T>(static_cast<T>(old + value));
  }
  static std::uint64_t min(std::uint64_t old, std::uint64_t value) {
    return bits_of<T>(portable_min(value_of<T>(old), value_of<T>(value)));
  }
  static std::uint64_t max(std::uint64_t old, std::uint64_t value) {
    return bits_of<T>(portable_max(value_of<T>(old), value_of<T>(value)));
  }
  static std::uint64_t bit_and(std::uint64_t old, std::uint64_t value) { return old & value; }
  static std::uint64_t bit_or(std::uint64_t old, std::uint64_t value) { return old | value; }
  static std::uint64_t bit_xor(std::uint64_t old, std::uint64_t value) { return old ^ value; }
  static std::uint64_t exch(std::uint64_t, std::uint64_t value) { return value; }
  // Up to the operand, then zero; down to zero, then the operand.
  static std::uint64_t inc(std::uint64_t old, std::uint64_t value) {
    return static_cast<T>(old) >= static_cast<T>(value) ? 0 : old + 1;
  }
  static std::uint64_t dec(std::uint64_t old, std::uint64_t value) {
    return static_cast<T>(old) == 0 || static_cast<T>(old) > static_cast<T>(value) ? value : old - 1;
  }

 private:
  static T portable_min(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return portable::extremum<false, false>(a, b);
    return a < b ? a : b;
  }
  static T portable_max(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return portable::extremum<false, true>(a, b);
    return a > b ? a : b;
  }
};

template <typename T>
AtomicFn integer_step(std::string_view op) {
  if (op == "add") return AtomicStep<T>::add;
  if (op == "min") return AtomicStep<T>::min;
  if (op == "max") return AtomicStep<T>::max;
  if (op == "and") return AtomicStep<T>::bit_and;
  if (op == "or") return AtomicStep<T>::bit_or;
  if (op == "xor") return AtomicStep<T>::bit_xor;
  if (op == "exch") return AtomicStep<T>::exch;
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    if (op == "inc") return AtomicStep<T>::inc;
    if (op == "dec") return AtomicStep<T>::dec;
  }
  return nullptr;
}
template <typename T>
AtomicFn float_step(std::string_view op) {
  if (op == "add") return AtomicStep<T>::add;
  if (op == "min") return AtomicStep<T>::min;
  if (op == "max") return AtomicStep<T>::max;
  return op == "exch" ? AtomicStep<T>::exch : nullptr;
}

// One or two 16-bit values; the others of the 64 bits stay zero.
enum class HalfStep : std::uint8_t { add, min, max };
template <typename F, HalfStep S, int Count>
std::uint64_t half_step(std::uint64_t old, std::uint64_t value) {
  std::uint64_t result = 0;
  for (int i = 0; i < Count; ++i) {
    const auto widen = [i](std::uint64_t bits) {
      const auto half = static_cast<std::uint16_t>(bits >> (16 * i));
      return F::is_half ? portable::half_to_float(half) : portable::bf16_to_float(half);
    };
    const float a = widen(old), b = widen(value);
    float kept = a + b;
    if constexpr (S == HalfStep::min) kept = portable::extremum<false, false>(a, b);
    if constexpr (S == HalfStep::max) kept = portable::extremum<false, true>(a, b);
    result |= static_cast<std::uint64_t>(F::is_half ? portable::float_to_half(kept) : portable::float_to_bf16(kept)) << (16 * i);
  }
  return result;
}
template <typename F, int Count>
AtomicFn half_step_of(std::string_view op) {
  if (op == "add") return half_step<F, HalfStep::add, Count>;
  if (op == "min") return half_step<F, HalfStep::min, Count>;
  return op == "max" ? half_step<F, HalfStep::max, Count> : nullptr;
}

}  // namespace

AtomicFn find_atomic(std::string_view op, Type type) {
  switch (type) {
    case Type::b32:
    case Type::u32:
      return integer_step<std::uint32_t>(op);
    case Type::s32:
      return integer_step<std::int32_t>(op);
    case Type::b64:
    case Type::u64:
      return integer_step<std::uint64_t>(op);
    case Type::s64:
      return integer_step<std::int64_t>(op);
    case Type::f32:
      return float_step<float>(op);
    case Type::f64:
      return float_step<double>(op);
    case Type::f16:
      return half_step_of<portable::HalfFormat, 1>(op);
    case Type::f16x2:
      return half_step_of<portable::HalfFormat, 2>(op);
    case Type::bf16:
      return half_step_of<portable::BfloatFormat, 1>(op);
    case Type::bf16x2:
      return half_step_of<portable::BfloatFormat, 2>(op);
    default:
      return nullptr;
  }
}

}  // namespace kw::vgpu
