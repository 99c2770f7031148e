// Functions of one number on a GPU, with the accuracy of CUDA's own. Pieces to paste: the text that follows a mark, up to the next one, with
// the pieces that it needs before it. A function of floats has a form on vectors through KW_LANES_1 and KW_LANES_2 of lanes.cuh.
#pragma once

#include "lanes.cuh"

// piece: exp needs: device
KW_DEVICE float kw_exp(float x) { return expf(x); }
KW_DEVICE double kw_exp(double x) { return exp(x); }

// piece: exp2 needs: device
KW_DEVICE float kw_exp2(float x) { return exp2f(x); }
KW_DEVICE double kw_exp2(double x) { return exp2(x); }

// piece: expm1 needs: device
KW_DEVICE float kw_expm1(float x) { return expm1f(x); }
KW_DEVICE double kw_expm1(double x) { return expm1(x); }

// piece: tanh needs: device
KW_DEVICE float kw_tanh(float x) { return tanhf(x); }
KW_DEVICE double kw_tanh(double x) { return tanh(x); }

// piece: log needs: device
KW_DEVICE float kw_log(float x) { return logf(x); }
KW_DEVICE double kw_log(double x) { return log(x); }

// piece: log2 needs: device
KW_DEVICE float kw_log2(float x) { return log2f(x); }
KW_DEVICE double kw_log2(double x) { return log2(x); }

// piece: log1p needs: device
KW_DEVICE float kw_log1p(float x) { return log1pf(x); }
KW_DEVICE double kw_log1p(double x) { return log1p(x); }

// piece: erf needs: device
KW_DEVICE float kw_erf(float x) { return erff(x); }
KW_DEVICE double kw_erf(double x) { return erf(x); }

// piece: erfc needs: device
KW_DEVICE float kw_erfc(float x) { return erfcf(x); }
KW_DEVICE double kw_erfc(double x) { return erfc(x); }

// piece: sin needs: device
KW_DEVICE float kw_sin(float x) { return sinf(x); }
KW_DEVICE double kw_sin(double x) { return sin(x); }

// piece: cos needs: device
KW_DEVICE float kw_cos(float x) { return cosf(x); }
KW_DEVICE double kw_cos(double x) { return cos(x); }

// piece: log10 needs: device
KW_DEVICE float kw_log10(float x) { return log10f(x); }
KW_DEVICE double kw_log10(double x) { return log10(x); }

// piece: tan needs: device
KW_DEVICE float kw_tan(float x) { return tanf(x); }
KW_DEVICE double kw_tan(double x) { return tan(x); }

// piece: asin needs: device
KW_DEVICE float kw_asin(float x) { return asinf(x); }
KW_DEVICE double kw_asin(double x) { return asin(x); }

// piece: acos needs: device
KW_DEVICE float kw_acos(float x) { return acosf(x); }
KW_DEVICE double kw_acos(double x) { return acos(x); }

// piece: atan needs: device
KW_DEVICE float kw_atan(float x) { return atanf(x); }
KW_DEVICE double kw_atan(double x) { return atan(x); }

// piece: sinh needs: device
KW_DEVICE float kw_sinh(float x) { return sinhf(x); }
KW_DEVICE double kw_sinh(double x) { return sinh(x); }

// piece: cosh needs: device
KW_DEVICE float kw_cosh(float x) { return coshf(x); }
KW_DEVICE double kw_cosh(double x) { return cosh(x); }

// piece: asinh needs: device
KW_DEVICE float kw_asinh(float x) { return asinhf(x); }
KW_DEVICE double kw_asinh(double x) { return asinh(x); }

// piece: acosh needs: device
KW_DEVICE float kw_acosh(float x) { return acoshf(x); }
KW_DEVICE double kw_acosh(double x) { return acosh(x); }

// piece: atanh needs: device
KW_DEVICE float kw_atanh(float x) { return atanhf(x); }
KW_DEVICE double kw_atanh(double x) { return atanh(x); }

// piece: sqrt needs: device
KW_DEVICE float kw_sqrt(float x) { return sqrtf(x); }
KW_DEVICE double kw_sqrt(double x) { return sqrt(x); }

// piece: rsqrt needs: device
KW_DEVICE float kw_rsqrt(float x) { return rsqrtf(x); }
KW_DEVICE double kw_rsqrt(double x) { return rsqrt(x); }

// piece: trunc needs: device
KW_DEVICE float kw_trunc(float x) { return truncf(x); }
KW_DEVICE double kw_trunc(double x) { return trunc(x); }

// piece: floor needs: device
KW_DEVICE float kw_floor(float x) { return floorf(x); }
KW_DEVICE double kw_floor(double x) { return floor(x); }

// piece: ceil needs: device
KW_DEVICE float kw_ceil(float x) { return ceilf(x); }
KW_DEVICE double kw_ceil(double x) { return ceil(x); }

// piece: round needs: device
KW_DEVICE float kw_round(float x) { return nearbyintf(x); }
KW_DEVICE double kw_round(double x) { return nearbyint(x); }

// piece: pow needs: device
KW_DEVICE float kw_pow(float x, float y) { return powf(x, y); }
KW_DEVICE double kw_pow(double x, double y) { return pow(x, y); }

// piece: fmod needs: device
KW_DEVICE float kw_fmod(float x, float y) { return fmodf(x, y); }
KW_DEVICE double kw_fmod(double x, double y) { return fmod(x, y); }

// piece: copysign needs: device
KW_DEVICE float kw_copysign(float x, float y) { return copysignf(x, y); }
KW_DEVICE double kw_copysign(double x, double y) { return copysign(x, y); }

// piece: sigmoid needs: device exp
template <class T>
KW_DEVICE T kw_sigmoid(T x) {
  return T(1) / (T(1) + kw_exp(-x));
}

// piece: silu needs: device exp
template <class T>
KW_DEVICE T kw_silu(T x) {
  return x / (T(1) + kw_exp(-x));
}

// piece: softplus needs: device exp log1p
template <class T>
KW_DEVICE T kw_softplus(T x) {
  return x > T(0) ? x + kw_log1p(kw_exp(-x)) : kw_log1p(kw_exp(x));
}

// piece: mish needs: device exp log1p tanh
template <class T>
KW_DEVICE T kw_mish(T x) {
  return x * kw_tanh(x > T(20) ? x : kw_log1p(kw_exp(x)));
}

// piece: gelu needs: device erfc
template <class T>
KW_DEVICE T kw_gelu(T x) {
  return T(0.5) * x * kw_erfc(x * T(-0.7071067811865476));
}

// piece: gelu_tanh needs: device sigmoid
template <class T>
KW_DEVICE T kw_gelu_tanh(T x) {
  return x * kw_sigmoid(x * (T(1.5957691216057308) + T(0.07135481627260025) * x * x));
}

// piece: abs needs: device
template <class T>
KW_DEVICE T kw_abs(T x) {
  return x < T(0) ? -x : x == T(0) ? T(0) : x;
}

// piece: sign needs: device
template <class T>
KW_DEVICE T kw_sign(T x) {
  return T((x > T(0)) - (x < T(0)));
}

// piece: relu needs: device
template <class T>
KW_DEVICE T kw_relu(T x) {
  return x < T(0) ? T(0) : x;
}

// piece: maximum needs: device
template <class T>
KW_DEVICE T kw_maximum(T x, T y) {
  return x > y || x != x ? x : y;
}

// piece: minimum needs: device
template <class T>
KW_DEVICE T kw_minimum(T x, T y) {
  return x < y || x != x ? x : y;
}

// piece: fast_exp needs: device
// The special function units alone: about 2^-21 of relative error for exp near 0, more far from it.
KW_DEVICE float kw_exp(float x) { return __expf(x); }
KW_DEVICE double kw_exp(double x) { return exp(x); }

// piece: fast_log needs: device
KW_DEVICE float kw_log(float x) { return __logf(x); }
KW_DEVICE double kw_log(double x) { return log(x); }

// piece: fast_tanh needs: device
KW_DEVICE float kw_tanh(float x) { return 1.0f - __fdividef(2.0f, __expf(2.0f * x) + 1.0f); }
KW_DEVICE double kw_tanh(double x) { return tanh(x); }
