// How 32-lane registers look, and the contract between the executor and the pure functions of instructions (sem_*).
// A semantic function computes all 32 lanes; it never looks at masks, memory or the warp: the executor blends by mask.
//
// Layout of one operand, by the width of its PTX type:
//   predicate          one std::uint32_t, bit i is lane i
//   up to 32 bits      std::uint32_t[32]; of an 8- or 16-bit value the upper bits are unspecified on reading and free on writing
//   64 bits            std::uint64_t[32]
//   128 bits           Lane128[32]
// All arrays are 64-byte aligned. Floating point values are their bit patterns (use std::bit_cast or a float* view of the array).
// An immediate comes as an array like any register. A negated predicate operand (!p) is negated before the call.
// A destination may be the very same array as a source (add %r1, %r1, %r2), never a part of one: put KW_LANE_LOOP in front of a
// loop over the lanes, so that the compiler vectorises it nevertheless. Fragments (mma) read other lanes: they have to read all
// that they need before they write, because d and c are often the same registers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#if defined(__clang__)
#define KW_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KW_LANE_LOOP _Pragma("GCC ivdep")
#else
#define KW_LANE_LOOP
#endif

// Files named *_hot.cpp are compiled once for any processor and, on x86-64, a second time for AVX2, FMA and F16C. Everything in
// them stands in namespace kw::vgpu::KW_ISA, so that both live in one program; isa.h chooses at run time.
#ifndef KW_ISA
#define KW_ISA portable
#endif

namespace kw::vgpu {

inline constexpr int kLanes = 32;

struct alignas(16) Lane128 {
  std::uint64_t low = 0, high = 0;
};

// The types of PTX. Packed ones (f16x2) are one 32-bit value.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  b32,
  u32,
  s32,
  b64,
  u64,
  s64,
  b128,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  f32x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  u4,
  s4,
  b1,
};
int type_bits(Type type);                // of one lane: 1 for pred, 32 for f16x2, ...
Type type_named(std::string_view name);  // "f32" -> f32; none where there is no such type
std::string_view type_name(Type type);
// Bytes of a lane in a register that holds the type: 4, 8 or 16; 0 for predicates.
int lane_bytes(Type type);

// Which unit of a GPU executes it, for the counters.
enum class Pipe : std::uint8_t { control, integer, fp32, fp64, fp16, special, conversion, tensor, memory, move };
inline constexpr int kPipes = 10;

// What few instructions need beside three sources and a destination.
struct LaneExtra {
  const void* d = nullptr;         // fourth source (e.g. the third of fma.wide forms, c of bfi is 3rd, d is 4th)
  void* dst2 = nullptr;            // second destination: q of setp p|q (a std::uint32_t mask); nullptr where it isn't asked for
  std::uint32_t* carry = nullptr;  // the carry flag CC.CF of each lane as a mask: .cc writes it, addc/subc/madc read it
  std::uint32_t immediate =
      0;  // what SEMANTICS put into Semantics::immediate, e.g. the look-up table of lop3 is a source, not this
};

// dst, a, b, c as described above; operands that the instruction hasn't are nullptr. Source predicates (the c of setp.lt.and, the p
// of selp) are passed as const std::uint32_t* masks in their place among the sources.
using LaneFn = void (*)(void* dst, const void* a, const void* b, const void* c, const LaneExtra& extra);

// mma, wmma.mma, movmatrix: each of d, a, b, c is an array of registers, e.g. a[3] is the 32-lane array of the fourth register of
// a.
using FragmentFn = void (*)(void* const* d, const void* const* a, const void* const* b, const void* const* c,
                            const LaneExtra& extra);

// Where each lane's elements of a wmma fragment lie in the matrix (wmma.load, wmma.store); the executor does the memory accesses.
struct FragmentMap {
  int registers = 0;  // per lane
  int elements_per_register = 1;
  Type element = Type::none;  // in memory
  bool column_major =
      false;  // address = base + (column_major ? column * stride + row : row * stride + column) * size of an element
  void (*place)(int lane, int element, int* row, int* column) = nullptr;  // element counts over registers * elements_per_register
};

// What find_semantics answers for an instruction.
struct Semantics {
  LaneFn lane = nullptr;  // exactly one of lane and fragment is set for an instruction that is supported
  FragmentFn fragment = nullptr;
  Type dst = Type::none;
  Type src[4] = {Type::none, Type::none, Type::none, Type::none};  // of a, b, c, d; none where there is no such operand
  int dst_registers = 1;                                           // of fragments: how many registers d, a, b, c have
  int src_registers[4] = {1, 1, 1, 1};
  Pipe pipe = Pipe::integer;
  std::uint32_t flops = 0;      // per active lane; for fragments: per warp (2*m*n*k)
  std::uint32_t immediate = 0;  // handed back in LaneExtra
  bool optional_last =
      false;  // the last source may be absent in the text (e.g. prmt modes, setp without combine): it is passed as nullptr
};

// An instruction's name split at its dots: "setp.lt.and.f32" is opcode "setp" and modifiers {"lt", "and", "f32"}. A Semantics
// without lane and fragment says that it isn't supported: the executor reports the instruction with its line. Not found here
// because the executor does them itself: mov, ld, st, ldu, atom, red, bar, barrier, shfl, vote, match, redux, activemask, elect,
// cp.async*, mbarrier, membar, fence, bra, brx, call, ret, exit, trap, cvta, isspacep, prefetch, nanosleep, ldmatrix, stmatrix,
// wmma.load, wmma.store, pred logic of and/or/xor/not (.pred), selp of .pred.
Semantics find_semantics(std::string_view opcode, std::span<const std::string_view> modifiers);  // sem_table.cpp (SEMANTICS)
// For wmma.load.{a,b,c} and wmma.store.d with all their modifiers; place is nullptr where it isn't supported.
FragmentMap find_fragment_map(std::string_view opcode, std::span<const std::string_view> modifiers);  // sem_wmma.cpp (SEMANTICS)
// One element-wise combination that atomics and redux/bar.red share: old op value of `type` for op in add, min, max, and, or, xor,
// inc, dec, exch; bits in, bits out; for f16x2/bf16x2 both halves. False where the pair is not supported.
using AtomicFn = std::uint64_t (*)(std::uint64_t old, std::uint64_t value);
AtomicFn find_atomic(std::string_view op, Type type);  // sem_atomic.cpp (SEMANTICS)

}  // namespace kw::vgpu
