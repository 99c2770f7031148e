// The functions of maths_*.h for one number, by libm: what plain kernels and the ends of loops call under the same names.
// Pieces to paste; vectors.h says how.
#pragma once

#include "vectors.h"

// piece: scalar_exp needs: cmath
static inline float kw_exp(float x) { return std::exp(x); }
static inline double kw_exp(double x) { return std::exp(x); }

// piece: scalar_exp2 needs: cmath
static inline float kw_exp2(float x) { return std::exp2(x); }
static inline double kw_exp2(double x) { return std::exp2(x); }

// piece: scalar_expm1 needs: cmath
static inline float kw_expm1(float x) { return std::expm1(x); }
static inline double kw_expm1(double x) { return std::expm1(x); }

// piece: scalar_tanh needs: cmath
static inline float kw_tanh(float x) { return std::tanh(x); }
static inline double kw_tanh(double x) { return std::tanh(x); }

// piece: scalar_sigmoid needs: cmath
template <class T>
static inline T kw_sigmoid(T x) {
  const T e = std::exp(x < T(0) ? x : -x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

// piece: scalar_silu needs: scalar_sigmoid
template <class T>
static inline T kw_silu(T x) {
  return x * kw_sigmoid(x);
}

// piece: scalar_mish needs: cmath
template <class T>
static inline T kw_mish(T x) {
  return x * std::tanh(x > T(20) ? x : std::log1p(std::exp(x)));
}

// piece: scalar_gelu_tanh needs: scalar_sigmoid
template <class T>
static inline T kw_gelu_tanh(T x) {
  return x * kw_sigmoid(x * (T(1.5957691216057308) + T(0.07135481627260025) * x * x));
}

// piece: scalar_log needs: cmath
static inline float kw_log(float x) { return std::log(x); }
static inline double kw_log(double x) { return std::log(x); }

// piece: scalar_log2 needs: cmath
static inline float kw_log2(float x) { return std::log2(x); }
static inline double kw_log2(double x) { return std::log2(x); }

// piece: scalar_log1p needs: cmath
static inline float kw_log1p(float x) { return std::log1p(x); }
static inline double kw_log1p(double x) { return std::log1p(x); }

// piece: scalar_softplus needs: cmath
template <class T>
static inline T kw_softplus(T x) {
  return x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// piece: scalar_erf needs: cmath
static inline float kw_erf(float x) { return std::erf(x); }
static inline double kw_erf(double x) { return std::erf(x); }

// piece: scalar_erfc needs: cmath
static inline float kw_erfc(float x) { return std::erfc(x); }
static inline double kw_erfc(double x) { return std::erfc(x); }

// piece: scalar_gelu needs: cmath
template <class T>
static inline T kw_gelu(T x) {
  return T(0.5) * x * std::erfc(x * T(-0.7071067811865476));
}

// piece: scalar_sin needs: cmath
static inline float kw_sin(float x) { return std::sin(x); }
static inline double kw_sin(double x) { return std::sin(x); }

// piece: scalar_cos needs: cmath
static inline float kw_cos(float x) { return std::cos(x); }
static inline double kw_cos(double x) { return std::cos(x); }

// piece: scalar_pow needs: cmath
static inline float kw_pow(float x, float y) { return std::pow(x, y); }
static inline double kw_pow(double x, double y) { return std::pow(x, y); }

// piece: scalar_fmod needs: cmath
static inline float kw_fmod(float x, float y) { return std::fmod(x, y); }
static inline double kw_fmod(double x, double y) { return std::fmod(x, y); }

// piece: scalar_log10 needs: cmath
static inline float kw_log10(float x) { return std::log10(x); }
static inline double kw_log10(double x) { return std::log10(x); }

// piece: scalar_tan needs: cmath
static inline float kw_tan(float x) { return std::tan(x); }
static inline double kw_tan(double x) { return std::tan(x); }

// piece: scalar_asin needs: cmath
static inline float kw_asin(float x) { return std::asin(x); }
static inline double kw_asin(double x) { return std::asin(x); }

// piece: scalar_acos needs: cmath
static inline float kw_acos(float x) { return std::acos(x); }
static inline double kw_acos(double x) { return std::acos(x); }

// piece: scalar_atan needs: cmath
static inline float kw_atan(float x) { return std::atan(x); }
static inline double kw_atan(double x) { return std::atan(x); }

// piece: scalar_sinh needs: cmath
static inline float kw_sinh(float x) { return std::sinh(x); }
static inline double kw_sinh(double x) { return std::sinh(x); }

// piece: scalar_cosh needs: cmath
static inline float kw_cosh(float x) { return std::cosh(x); }
static inline double kw_cosh(double x) { return std::cosh(x); }

// piece: scalar_asinh needs: cmath
static inline float kw_asinh(float x) { return std::asinh(x); }
static inline double kw_asinh(double x) { return std::asinh(x); }

// piece: scalar_acosh needs: cmath
static inline float kw_acosh(float x) { return std::acosh(x); }
static inline double kw_acosh(double x) { return std::acosh(x); }

// piece: scalar_atanh needs: cmath
static inline float kw_atanh(float x) { return std::atanh(x); }
static inline double kw_atanh(double x) { return std::atanh(x); }
