// What generated OpenCL C is written with: KW_LANES floats as one value, loads and stores of them at any address, masks. Pieces to
// paste: the text that follows a mark, up to the next one, with the pieces that it needs before it.

// piece: device needs:
#define KW_DEVICE static inline __attribute__((overloadable))

// piece: vec needs: device
#define KW_PASTE2(a, b) a##b
#define KW_PASTE(a, b) KW_PASTE2(a, b)
#define kw_lanes KW_LANES
typedef KW_PASTE(float, KW_LANES) kw_vec;
typedef KW_PASTE(int, KW_LANES) kw_mask;
// A function of floats on lanes too, where OpenCL has it for both.
#define KW_BUILTIN_1(name, builtin) \
  KW_DEVICE kw_vec name(kw_vec x) { return builtin(x); }
#define KW_BUILTIN_2(name, builtin) \
  KW_DEVICE kw_vec name(kw_vec x, kw_vec y) { return builtin(x, y); }

// piece: load needs: vec
KW_DEVICE kw_vec kw_load(const __global float* from) { return KW_PASTE(vload, KW_LANES)(0, from); }
KW_DEVICE kw_vec kw_load(const __private float* from) { return KW_PASTE(vload, KW_LANES)(0, from); }

// piece: store needs: vec
KW_DEVICE void kw_store(__global float* to, kw_vec x) { KW_PASTE(vstore, KW_LANES)(x, 0, to); }
KW_DEVICE void kw_store(__private float* to, kw_vec x) { KW_PASTE(vstore, KW_LANES)(x, 0, to); }

// piece: gather needs: vec
KW_DEVICE kw_vec kw_gather(const __global float* from, long stride) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = from[i * stride];
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: load_f16 needs: vec
KW_DEVICE kw_vec kw_load(const __global kw_f16* from) {
  return KW_PASTE(vload_half, KW_LANES)(0, (const __global half*)from);
}

// piece: gather_f16 needs: vec
KW_DEVICE kw_vec kw_gather(const __global kw_f16* from, long stride) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = kw_to_float(from[i * stride]);
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: store_f16 needs: vec
KW_DEVICE void kw_store(__global kw_f16* to, kw_vec x) {
  KW_PASTE(KW_PASTE(vstore_half, KW_LANES), _rte)(x, 0, (__global half*)to);
}

// piece: rounded_f16 needs: vec
KW_DEVICE kw_vec kw_rounded_f16(kw_vec x) {
  ushort bits[KW_LANES];
  KW_PASTE(KW_PASTE(vstore_half, KW_LANES), _rte)(x, 0, (__private half*)bits);
  return KW_PASTE(vload_half, KW_LANES)(0, (const __private half*)bits);
}

// piece: load_bf16 needs: vec
// The upper half of a float.
KW_DEVICE kw_vec kw_load(const __global kw_bf16* from) {
  const KW_PASTE(ushort, KW_LANES) bits = KW_PASTE(vload, KW_LANES)(0, (const __global ushort*)from);
  return KW_PASTE(as_float, KW_LANES)(KW_PASTE(convert_uint, KW_LANES)(bits) << 16);
}

// piece: gather_bf16 needs: vec
KW_DEVICE kw_vec kw_gather(const __global kw_bf16* from, long stride) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = kw_to_float(from[i * stride]);
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: rounded_bf16 needs: vec
// To nearest, ties to even; a NaN stays one.
KW_DEVICE kw_vec kw_rounded_bf16(kw_vec x) {
  const KW_PASTE(uint, KW_LANES) bits = KW_PASTE(as_uint, KW_LANES)(x);
  const KW_PASTE(uint, KW_LANES) rounded = isnan(x) ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
  return KW_PASTE(as_float, KW_LANES)(rounded & 0xffff0000u);
}

// piece: store_bf16 needs: vec rounded_bf16
KW_DEVICE void kw_store(__global kw_bf16* to, kw_vec x) {
  const KW_PASTE(uint, KW_LANES) bits = KW_PASTE(as_uint, KW_LANES)(kw_rounded_bf16(x)) >> 16;
  KW_PASTE(vstore, KW_LANES)(KW_PASTE(convert_ushort, KW_LANES)(bits), 0, (__global ushort*)to);
}

// piece: load_i8 needs: vec
KW_DEVICE kw_vec kw_load(const __global char* from) {
  return KW_PASTE(convert_float, KW_LANES)(KW_PASTE(vload, KW_LANES)(0, from));
}

// piece: gather_i8 needs: vec
KW_DEVICE kw_vec kw_gather(const __global char* from, long stride) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = from[i * stride];
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: load_u8 needs: vec
KW_DEVICE kw_vec kw_load(const __global uchar* from) {
  return KW_PASTE(convert_float, KW_LANES)(KW_PASTE(vload, KW_LANES)(0, from));
}

// piece: gather_u8 needs: vec
KW_DEVICE kw_vec kw_gather(const __global uchar* from, long stride) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = from[i * stride];
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: load_i16 needs: vec
KW_DEVICE kw_vec kw_load(const __global short* from) {
  return KW_PASTE(convert_float, KW_LANES)(KW_PASTE(vload, KW_LANES)(0, from));
}

// piece: gather_i16 needs: vec
KW_DEVICE kw_vec kw_gather(const __global short* from, long stride) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = from[i * stride];
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: pick needs: vec
// Lane i is the element at[i] of what starts at from + i * across.
KW_DEVICE kw_vec kw_pick(const __global float* from, const __global long* at, long stride, long across) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = from[at[i] * stride + i * across];
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: load_mask needs: vec
KW_DEVICE kw_mask kw_load_mask(const __global uchar* from) {
  int lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = from[i] ? -1 : 0;
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: splat needs: vec
KW_DEVICE kw_vec kw_splat(float x) { return (kw_vec)(x); }

// piece: iota needs: vec
KW_DEVICE kw_vec kw_iota(void) {
  float lane[KW_LANES];
  for (int i = 0; i < KW_LANES; ++i) lane[i] = i;
  return KW_PASTE(vload, KW_LANES)(0, lane);
}

// piece: select needs: vec
KW_DEVICE kw_vec kw_select(kw_mask choose, kw_vec x, kw_vec y) { return select(y, x, choose); }
KW_DEVICE kw_mask kw_select(kw_mask choose, kw_mask x, kw_mask y) { return (choose & x) | (~choose & y); }

// piece: any needs: vec
KW_DEVICE bool kw_any(kw_mask x) { return any(x); }

// piece: sum needs: device
KW_DEVICE float kw_sum(float2 x) { return x.x + x.y; }
KW_DEVICE float kw_sum(float4 x) { return kw_sum(x.lo + x.hi); }
KW_DEVICE float kw_sum(float8 x) { return kw_sum(x.lo + x.hi); }
KW_DEVICE float kw_sum(float16 x) { return kw_sum(x.lo + x.hi); }

// piece: prod needs: device
KW_DEVICE float kw_prod(float2 x) { return x.x * x.y; }
KW_DEVICE float kw_prod(float4 x) { return kw_prod(x.lo * x.hi); }
KW_DEVICE float kw_prod(float8 x) { return kw_prod(x.lo * x.hi); }
KW_DEVICE float kw_prod(float16 x) { return kw_prod(x.lo * x.hi); }

// piece: max needs: vec maximum
KW_DEVICE float kw_max(kw_vec x) {
  float lane[KW_LANES];
  KW_PASTE(vstore, KW_LANES)(x, 0, lane);
  for (int i = 1; i < KW_LANES; ++i) lane[0] = kw_maximum(lane[0], lane[i]);
  return lane[0];
}

// piece: min needs: vec minimum
KW_DEVICE float kw_min(kw_vec x) {
  float lane[KW_LANES];
  KW_PASTE(vstore, KW_LANES)(x, 0, lane);
  for (int i = 1; i < KW_LANES; ++i) lane[0] = kw_minimum(lane[0], lane[i]);
  return lane[0];
}

// piece: online_step needs: vec exp
// A running maximum and the sum of exponentials below it, lane by lane.
KW_DEVICE void kw_online_step(kw_vec* top, kw_vec* total, kw_vec x) {
  const kw_vec higher = fmax(*top, x);
  *total = *total * kw_exp(*top - higher) + kw_exp(x - higher);
  *top = higher;
}
