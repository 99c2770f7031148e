// What generated CUDA kernels are written with: four floats as one value, read and written in one instruction, and numbers of 16 bits.
// Pieces to paste; maths.cuh says how.
#pragma once

// piece: device needs:
#define KW_DEVICE static __device__ __forceinline__

// piece: vec needs: device
// Four floats that stand side by side.
constexpr int kw_lanes = 4;
struct kw_vec {
  float v[kw_lanes];
};
struct kw_mask {
  bool v[kw_lanes];
};
#define KW_LANES_OPERATOR(op, result)                          \
  KW_DEVICE result operator op(kw_vec x, kw_vec y) {           \
    result made;                                               \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = x.v[i] op y.v[i]; \
    return made;                                               \
  }                                                            \
  KW_DEVICE result operator op(kw_vec x, float y) {            \
    result made;                                               \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = x.v[i] op y; \
    return made;                                               \
  }                                                            \
  KW_DEVICE result operator op(float x, kw_vec y) {            \
    result made;                                               \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = x op y.v[i]; \
    return made;                                               \
  }
KW_LANES_OPERATOR(+, kw_vec)
KW_LANES_OPERATOR(-, kw_vec)
KW_LANES_OPERATOR(*, kw_vec)
KW_LANES_OPERATOR(/, kw_vec)
#define KW_LANES_1(name)                                       \
  KW_DEVICE kw_vec name(kw_vec x) {                            \
    kw_vec made;                                               \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = name(x.v[i]); \
    return made;                                               \
  }
#define KW_LANES_2(name)                                       \
  KW_DEVICE kw_vec name(kw_vec x, kw_vec y) {                  \
    kw_vec made;                                               \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = name(x.v[i], y.v[i]); \
    return made;                                               \
  }
KW_DEVICE kw_vec operator-(kw_vec x) { return 0.0f - x; }
KW_DEVICE kw_vec& operator+=(kw_vec& x, kw_vec y) { return x = x + y; }
KW_DEVICE kw_vec& operator*=(kw_vec& x, kw_vec y) { return x = x * y; }

// piece: mask needs: vec
KW_LANES_OPERATOR(<, kw_mask)
KW_LANES_OPERATOR(<=, kw_mask)
KW_LANES_OPERATOR(>, kw_mask)
KW_LANES_OPERATOR(>=, kw_mask)
KW_LANES_OPERATOR(==, kw_mask)
KW_LANES_OPERATOR(!=, kw_mask)
#define KW_MASK_OPERATOR(op)                                   \
  KW_DEVICE kw_mask operator op(kw_mask x, kw_mask y) {        \
    kw_mask made;                                              \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = x.v[i] op y.v[i]; \
    return made;                                               \
  }
KW_MASK_OPERATOR(&)
KW_MASK_OPERATOR(|)
KW_MASK_OPERATOR(^)
KW_DEVICE kw_mask operator~(kw_mask x) {
  kw_mask made;
  for (int i = 0; i < kw_lanes; ++i) made.v[i] = !x.v[i];
  return made;
}

// piece: load needs: vec
// 16 bytes at a multiple of 16.
KW_DEVICE kw_vec kw_load(const float* from) {
  const float4 x = *reinterpret_cast<const float4*>(from);
  return {{x.x, x.y, x.z, x.w}};
}

// piece: store needs: vec
KW_DEVICE void kw_store(float* to, kw_vec x) { *reinterpret_cast<float4*>(to) = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]); }

// piece: gather needs: vec
KW_DEVICE kw_vec kw_gather(const float* from, int stride) {
  kw_vec made;
  for (int i = 0; i < kw_lanes; ++i) made.v[i] = from[i * stride];
  return made;
}

// piece: scatter needs: vec
KW_DEVICE void kw_scatter(float* to, kw_vec x) {
  for (int i = 0; i < kw_lanes; ++i) to[i] = x.v[i];
}

// piece: load_mask needs: mask
KW_DEVICE kw_mask kw_load_mask(const bool* from) {
  kw_mask made;
  for (int i = 0; i < kw_lanes; ++i) made.v[i] = from[i];
  return made;
}

// piece: splat needs: vec
KW_DEVICE kw_vec kw_splat(float x) { return {{x, x, x, x}}; }

// piece: iota needs: vec
KW_DEVICE kw_vec kw_iota() { return {{0.0f, 1.0f, 2.0f, 3.0f}}; }

// piece: select needs: mask
KW_DEVICE kw_vec kw_select(kw_mask choose, kw_vec x, kw_vec y) {
  kw_vec made;
  for (int i = 0; i < kw_lanes; ++i) made.v[i] = choose.v[i] ? x.v[i] : y.v[i];
  return made;
}
KW_DEVICE kw_mask kw_select(kw_mask choose, kw_mask x, kw_mask y) { return (choose & x) | (~choose & y); }

// piece: sum needs: vec
KW_DEVICE float kw_sum(kw_vec x) { return (x.v[0] + x.v[1]) + (x.v[2] + x.v[3]); }

// piece: prod needs: vec
KW_DEVICE float kw_prod(kw_vec x) { return (x.v[0] * x.v[1]) * (x.v[2] * x.v[3]); }

// piece: max needs: vec maximum
KW_DEVICE float kw_max(kw_vec x) { return kw_maximum(kw_maximum(x.v[0], x.v[1]), kw_maximum(x.v[2], x.v[3])); }

// piece: min needs: vec minimum
KW_DEVICE float kw_min(kw_vec x) { return kw_minimum(kw_minimum(x.v[0], x.v[1]), kw_minimum(x.v[2], x.v[3])); }

// piece: f16 needs: device
#include <cuda_fp16.h>
using kw_f16 = __half;

// piece: bf16 needs: device
#include <cuda_bf16.h>
using kw_bf16 = __nv_bfloat16;

// piece: f16_wide needs: f16
KW_DEVICE float kw_f16_wide(kw_f16 x) { return __half2float(x); }

// piece: bf16_wide needs: bf16
KW_DEVICE float kw_bf16_wide(kw_bf16 x) { return __bfloat162float(x); }

// piece: f16_of needs: f16
KW_DEVICE kw_f16 kw_f16_of(float x) { return __float2half_rn(x); }

// piece: bf16_of needs: bf16
KW_DEVICE kw_bf16 kw_bf16_of(float x) { return __float2bfloat16_rn(x); }

// piece: narrow_lanes needs: vec
// Four numbers of another type that stand side by side, at a multiple of their size, or apart; each becomes a float by itself.
#define KW_NARROW_LANES(type, widened)                               \
  struct alignas(kw_lanes * sizeof(type)) kw_four_##type {           \
    type v[kw_lanes];                                                \
  };                                                                 \
  KW_DEVICE kw_vec kw_load(const type* from) {                       \
    const kw_four_##type four = *reinterpret_cast<const kw_four_##type*>(from); \
    kw_vec made;                                                     \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = widened(four.v[i]); \
    return made;                                                     \
  }                                                                  \
  KW_DEVICE kw_vec kw_gather(const type* from, int stride) {         \
    kw_vec made;                                                     \
    for (int i = 0; i < kw_lanes; ++i) made.v[i] = widened(from[i * stride]); \
    return made;                                                     \
  }
#define KW_NARROW_STORES(type, rounded)                              \
  KW_DEVICE void kw_store(type* to, kw_vec x) {                      \
    kw_four_##type four;                                             \
    for (int i = 0; i < kw_lanes; ++i) four.v[i] = rounded(x.v[i]);  \
    *reinterpret_cast<kw_four_##type*>(to) = four;                   \
  }                                                                  \
  KW_DEVICE void kw_scatter(type* to, kw_vec x) {                    \
    for (int i = 0; i < kw_lanes; ++i) to[i] = rounded(x.v[i]);      \
  }

// piece: load_f16 needs: narrow_lanes f16_wide f16_of
KW_NARROW_LANES(kw_f16, kw_f16_wide)
KW_NARROW_STORES(kw_f16, kw_f16_of)

// piece: gather_f16 needs: load_f16

// piece: store_f16 needs: load_f16

// piece: scatter_f16 needs: load_f16

// piece: rounded_f16 needs: vec f16_wide f16_of
KW_DEVICE kw_vec kw_rounded_f16(kw_vec x) {
  for (int i = 0; i < kw_lanes; ++i) x.v[i] = kw_f16_wide(kw_f16_of(x.v[i]));
  return x;
}

// piece: load_bf16 needs: narrow_lanes bf16_wide bf16_of
KW_NARROW_LANES(kw_bf16, kw_bf16_wide)
KW_NARROW_STORES(kw_bf16, kw_bf16_of)

// piece: gather_bf16 needs: load_bf16

// piece: store_bf16 needs: load_bf16

// piece: scatter_bf16 needs: load_bf16

// piece: rounded_bf16 needs: vec bf16_wide bf16_of
KW_DEVICE kw_vec kw_rounded_bf16(kw_vec x) {
  for (int i = 0; i < kw_lanes; ++i) x.v[i] = kw_bf16_wide(kw_bf16_of(x.v[i]));
  return x;
}

// piece: load_i8 needs: narrow_lanes
using kw_i8 = std::int8_t;
KW_NARROW_LANES(kw_i8, float)

// piece: gather_i8 needs: load_i8

// piece: load_u8 needs: narrow_lanes
using kw_u8 = std::uint8_t;
KW_NARROW_LANES(kw_u8, float)

// piece: gather_u8 needs: load_u8

// piece: load_i16 needs: narrow_lanes
using kw_i16 = std::int16_t;
KW_NARROW_LANES(kw_i16, float)

// piece: gather_i16 needs: load_i16

// piece: pick needs: vec
// Lane i is the element at[i] of what starts at from + i * across.
KW_DEVICE kw_vec kw_pick(const float* from, const std::int64_t* at, int stride, int across) {
  kw_vec made;
  for (int i = 0; i < kw_lanes; ++i) made.v[i] = from[at[i] * stride + i * across];
  return made;
}
