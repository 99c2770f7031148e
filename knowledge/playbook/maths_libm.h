// Functions of libm on every lane: vector code that does not approximate. A kernel takes each_NAME instead of NAME: both define
// kw_NAME for vectors. Pieces to paste; vectors.h says how.
#pragma once

#include "maths_scalar.h"

// piece: each_exp needs: vec each scalar_exp
KW_INLINE kw_vec kw_exp(kw_vec x) {
  return kw_each(x, [](float v) { return kw_exp(v); });
}

// piece: each_exp2 needs: vec each scalar_exp2
KW_INLINE kw_vec kw_exp2(kw_vec x) {
  return kw_each(x, [](float v) { return kw_exp2(v); });
}

// piece: each_expm1 needs: vec each scalar_expm1
KW_INLINE kw_vec kw_expm1(kw_vec x) {
  return kw_each(x, [](float v) { return kw_expm1(v); });
}

// piece: each_tanh needs: vec each scalar_tanh
KW_INLINE kw_vec kw_tanh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_tanh(v); });
}

// piece: each_sigmoid needs: vec each scalar_sigmoid
KW_INLINE kw_vec kw_sigmoid(kw_vec x) {
  return kw_each(x, [](float v) { return kw_sigmoid(v); });
}

// piece: each_silu needs: vec each scalar_silu
KW_INLINE kw_vec kw_silu(kw_vec x) {
  return kw_each(x, [](float v) { return kw_silu(v); });
}

// piece: each_mish needs: vec each scalar_mish
KW_INLINE kw_vec kw_mish(kw_vec x) {
  return kw_each(x, [](float v) { return kw_mish(v); });
}

// piece: each_gelu_tanh needs: vec each scalar_gelu_tanh
KW_INLINE kw_vec kw_gelu_tanh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_gelu_tanh(v); });
}

// piece: each_log needs: vec each scalar_log
KW_INLINE kw_vec kw_log(kw_vec x) {
  return kw_each(x, [](float v) { return kw_log(v); });
}

// piece: each_log2 needs: vec each scalar_log2
KW_INLINE kw_vec kw_log2(kw_vec x) {
  return kw_each(x, [](float v) { return kw_log2(v); });
}

// piece: each_log1p needs: vec each scalar_log1p
KW_INLINE kw_vec kw_log1p(kw_vec x) {
  return kw_each(x, [](float v) { return kw_log1p(v); });
}

// piece: each_softplus needs: vec each scalar_softplus
KW_INLINE kw_vec kw_softplus(kw_vec x) {
  return kw_each(x, [](float v) { return kw_softplus(v); });
}

// piece: each_erf needs: vec each scalar_erf
KW_INLINE kw_vec kw_erf(kw_vec x) {
  return kw_each(x, [](float v) { return kw_erf(v); });
}

// piece: each_erfc needs: vec each scalar_erfc
KW_INLINE kw_vec kw_erfc(kw_vec x) {
  return kw_each(x, [](float v) { return kw_erfc(v); });
}

// piece: each_gelu needs: vec each scalar_gelu
KW_INLINE kw_vec kw_gelu(kw_vec x) {
  return kw_each(x, [](float v) { return kw_gelu(v); });
}

// piece: each_sin needs: vec each scalar_sin
KW_INLINE kw_vec kw_sin(kw_vec x) {
  return kw_each(x, [](float v) { return kw_sin(v); });
}

// piece: each_cos needs: vec each scalar_cos
KW_INLINE kw_vec kw_cos(kw_vec x) {
  return kw_each(x, [](float v) { return kw_cos(v); });
}

// piece: each_pow needs: vec scalar_pow
KW_INLINE kw_vec kw_pow(kw_vec x, kw_vec y) {
  for (int i = 0; i < kw_lanes; ++i) x[i] = kw_pow(x[i], y[i]);
  return x;
}

// piece: each_fmod needs: vec scalar_fmod
KW_INLINE kw_vec kw_fmod(kw_vec x, kw_vec y) {
  for (int i = 0; i < kw_lanes; ++i) x[i] = kw_fmod(x[i], y[i]);
  return x;
}

// piece: each_log10 needs: vec each scalar_log10
KW_INLINE kw_vec kw_log10(kw_vec x) {
  return kw_each(x, [](float v) { return kw_log10(v); });
}

// piece: each_tan needs: vec each scalar_tan
KW_INLINE kw_vec kw_tan(kw_vec x) {
  return kw_each(x, [](float v) { return kw_tan(v); });
}

// piece: each_asin needs: vec each scalar_asin
KW_INLINE kw_vec kw_asin(kw_vec x) {
  return kw_each(x, [](float v) { return kw_asin(v); });
}

// piece: each_acos needs: vec each scalar_acos
KW_INLINE kw_vec kw_acos(kw_vec x) {
  return kw_each(x, [](float v) { return kw_acos(v); });
}

// piece: each_atan needs: vec each scalar_atan
KW_INLINE kw_vec kw_atan(kw_vec x) {
  return kw_each(x, [](float v) { return kw_atan(v); });
}

// piece: each_sinh needs: vec each scalar_sinh
KW_INLINE kw_vec kw_sinh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_sinh(v); });
}

// piece: each_cosh needs: vec each scalar_cosh
KW_INLINE kw_vec kw_cosh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_cosh(v); });
}

// piece: each_asinh needs: vec each scalar_asinh
KW_INLINE kw_vec kw_asinh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_asinh(v); });
}

// piece: each_acosh needs: vec each scalar_acosh
KW_INLINE kw_vec kw_acosh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_acosh(v); });
}

// piece: each_atanh needs: vec each scalar_atanh
KW_INLINE kw_vec kw_atanh(kw_vec x) {
  return kw_each(x, [](float v) { return kw_atanh(v); });
}
