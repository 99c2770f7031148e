// Functions of one or two numbers in OpenCL C, by its own built-in ones. Pieces to paste; lanes.cl says how. What stands behind
// "#ifdef KW_LANES" is the form on vectors.

// piece: exp needs: device
KW_DEVICE float kw_exp(float x) { return exp(x); }
KW_DEVICE double kw_exp(double x) { return exp(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_exp, exp)
#endif

// piece: exp2 needs: device
KW_DEVICE float kw_exp2(float x) { return exp2(x); }
KW_DEVICE double kw_exp2(double x) { return exp2(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_exp2, exp2)
#endif

// piece: expm1 needs: device
KW_DEVICE float kw_expm1(float x) { return expm1(x); }
KW_DEVICE double kw_expm1(double x) { return expm1(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_expm1, expm1)
#endif

// piece: tanh needs: device
KW_DEVICE float kw_tanh(float x) { return tanh(x); }
KW_DEVICE double kw_tanh(double x) { return tanh(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_tanh, tanh)
#endif

// piece: log needs: device
KW_DEVICE float kw_log(float x) { return log(x); }
KW_DEVICE double kw_log(double x) { return log(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_log, log)
#endif

// piece: log2 needs: device
KW_DEVICE float kw_log2(float x) { return log2(x); }
KW_DEVICE double kw_log2(double x) { return log2(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_log2, log2)
#endif

// piece: log1p needs: device
KW_DEVICE float kw_log1p(float x) { return log1p(x); }
KW_DEVICE double kw_log1p(double x) { return log1p(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_log1p, log1p)
#endif

// piece: erf needs: device
KW_DEVICE float kw_erf(float x) { return erf(x); }
KW_DEVICE double kw_erf(double x) { return erf(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_erf, erf)
#endif

// piece: erfc needs: device
KW_DEVICE float kw_erfc(float x) { return erfc(x); }
KW_DEVICE double kw_erfc(double x) { return erfc(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_erfc, erfc)
#endif

// piece: sin needs: device
KW_DEVICE float kw_sin(float x) { return sin(x); }
KW_DEVICE double kw_sin(double x) { return sin(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_sin, sin)
#endif

// piece: cos needs: device
KW_DEVICE float kw_cos(float x) { return cos(x); }
KW_DEVICE double kw_cos(double x) { return cos(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_cos, cos)
#endif

// piece: log10 needs: device
KW_DEVICE float kw_log10(float x) { return log10(x); }
KW_DEVICE double kw_log10(double x) { return log10(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_log10, log10)
#endif

// piece: tan needs: device
KW_DEVICE float kw_tan(float x) { return tan(x); }
KW_DEVICE double kw_tan(double x) { return tan(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_tan, tan)
#endif

// piece: asin needs: device
KW_DEVICE float kw_asin(float x) { return asin(x); }
KW_DEVICE double kw_asin(double x) { return asin(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_asin, asin)
#endif

// piece: acos needs: device
KW_DEVICE float kw_acos(float x) { return acos(x); }
KW_DEVICE double kw_acos(double x) { return acos(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_acos, acos)
#endif

// piece: atan needs: device
KW_DEVICE float kw_atan(float x) { return atan(x); }
KW_DEVICE double kw_atan(double x) { return atan(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_atan, atan)
#endif

// piece: sinh needs: device
KW_DEVICE float kw_sinh(float x) { return sinh(x); }
KW_DEVICE double kw_sinh(double x) { return sinh(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_sinh, sinh)
#endif

// piece: cosh needs: device
KW_DEVICE float kw_cosh(float x) { return cosh(x); }
KW_DEVICE double kw_cosh(double x) { return cosh(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_cosh, cosh)
#endif

// piece: asinh needs: device
KW_DEVICE float kw_asinh(float x) { return asinh(x); }
KW_DEVICE double kw_asinh(double x) { return asinh(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_asinh, asinh)
#endif

// piece: acosh needs: device
KW_DEVICE float kw_acosh(float x) { return acosh(x); }
KW_DEVICE double kw_acosh(double x) { return acosh(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_acosh, acosh)
#endif

// piece: atanh needs: device
KW_DEVICE float kw_atanh(float x) { return atanh(x); }
KW_DEVICE double kw_atanh(double x) { return atanh(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_atanh, atanh)
#endif

// piece: sqrt needs: device
KW_DEVICE float kw_sqrt(float x) { return sqrt(x); }
KW_DEVICE double kw_sqrt(double x) { return sqrt(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_sqrt, sqrt)
#endif

// piece: rsqrt needs: device
KW_DEVICE float kw_rsqrt(float x) { return rsqrt(x); }
KW_DEVICE double kw_rsqrt(double x) { return rsqrt(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_rsqrt, rsqrt)
#endif

// piece: trunc needs: device
KW_DEVICE float kw_trunc(float x) { return trunc(x); }
KW_DEVICE double kw_trunc(double x) { return trunc(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_trunc, trunc)
#endif

// piece: floor needs: device
KW_DEVICE float kw_floor(float x) { return floor(x); }
KW_DEVICE double kw_floor(double x) { return floor(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_floor, floor)
#endif

// piece: ceil needs: device
KW_DEVICE float kw_ceil(float x) { return ceil(x); }
KW_DEVICE double kw_ceil(double x) { return ceil(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_ceil, ceil)
#endif

// piece: round needs: device
KW_DEVICE float kw_round(float x) { return rint(x); }
KW_DEVICE double kw_round(double x) { return rint(x); }
#ifdef KW_LANES
KW_BUILTIN_1(kw_round, rint)
#endif

// piece: pow needs: device
KW_DEVICE float kw_pow(float x, float y) { return pow(x, y); }
KW_DEVICE double kw_pow(double x, double y) { return pow(x, y); }
#ifdef KW_LANES
KW_BUILTIN_2(kw_pow, pow)
#endif

// piece: fmod needs: device
KW_DEVICE float kw_fmod(float x, float y) { return fmod(x, y); }
KW_DEVICE double kw_fmod(double x, double y) { return fmod(x, y); }
#ifdef KW_LANES
KW_BUILTIN_2(kw_fmod, fmod)
#endif

// piece: copysign needs: device
KW_DEVICE float kw_copysign(float x, float y) { return copysign(x, y); }
KW_DEVICE double kw_copysign(double x, double y) { return copysign(x, y); }
#ifdef KW_LANES
KW_BUILTIN_2(kw_copysign, copysign)
#endif

// piece: sigmoid needs: device exp
KW_DEVICE float kw_sigmoid(float x) { return 1.0f / (1.0f + kw_exp(-x)); }
KW_DEVICE double kw_sigmoid(double x) { return 1.0 / (1.0 + kw_exp(-x)); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_sigmoid(kw_vec x) { return 1.0f / (1.0f + kw_exp(-x)); }
#endif

// piece: silu needs: device exp
KW_DEVICE float kw_silu(float x) { return x / (1.0f + kw_exp(-x)); }
KW_DEVICE double kw_silu(double x) { return x / (1.0 + kw_exp(-x)); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_silu(kw_vec x) { return x / (1.0f + kw_exp(-x)); }
#endif

// piece: softplus needs: device exp log1p
KW_DEVICE float kw_softplus(float x) { return x > 0.0f ? x + kw_log1p(kw_exp(-x)) : kw_log1p(kw_exp(x)); }
KW_DEVICE double kw_softplus(double x) { return x > 0.0 ? x + kw_log1p(kw_exp(-x)) : kw_log1p(kw_exp(x)); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_softplus(kw_vec x) { return fmax(x, 0.0f) + kw_log1p(kw_exp(-fabs(x))); }
#endif

// piece: mish needs: device exp log1p tanh
KW_DEVICE float kw_mish(float x) { return x * kw_tanh(x > 20.0f ? x : kw_log1p(kw_exp(x))); }
KW_DEVICE double kw_mish(double x) { return x * kw_tanh(x > 20.0 ? x : kw_log1p(kw_exp(x))); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_mish(kw_vec x) { return x * kw_tanh(select(kw_log1p(kw_exp(fmin(x, 20.0f))), x, x > 20.0f)); }
#endif

// piece: gelu needs: device erfc
KW_DEVICE float kw_gelu(float x) { return 0.5f * x * kw_erfc(x * -0.7071067811865476f); }
KW_DEVICE double kw_gelu(double x) { return 0.5 * x * kw_erfc(x * -0.7071067811865476); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_gelu(kw_vec x) { return 0.5f * x * kw_erfc(x * -0.7071067811865476f); }
#endif

// piece: gelu_tanh needs: device sigmoid
KW_DEVICE float kw_gelu_tanh(float x) { return x * kw_sigmoid(x * (1.5957691216057308f + 0.07135481627260025f * x * x)); }
KW_DEVICE double kw_gelu_tanh(double x) { return x * kw_sigmoid(x * (1.5957691216057308 + 0.07135481627260025 * x * x)); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_gelu_tanh(kw_vec x) { return x * kw_sigmoid(x * (1.5957691216057308f + 0.07135481627260025f * x * x)); }
#endif

// piece: abs needs: device
KW_DEVICE float kw_abs(float x) { return x < 0.0f ? -x : x == 0.0f ? 0.0f : x; }
KW_DEVICE double kw_abs(double x) { return x < 0.0 ? -x : x == 0.0 ? 0.0 : x; }
KW_DEVICE long kw_abs(long x) { return x < 0 ? -x : x == 0 ? 0 : x; }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_abs(kw_vec x) { return fabs(x); }
#endif

// piece: sign needs: device
KW_DEVICE float kw_sign(float x) { return (x > 0.0f) - (x < 0.0f); }
KW_DEVICE double kw_sign(double x) { return (x > 0.0) - (x < 0.0); }
KW_DEVICE long kw_sign(long x) { return (x > 0) - (x < 0); }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_sign(kw_vec x) { return select((kw_vec)(0.0f), sign(x), x == x); }
#endif

// piece: relu needs: device
KW_DEVICE float kw_relu(float x) { return x < 0.0f ? 0.0f : x; }
KW_DEVICE double kw_relu(double x) { return x < 0.0 ? 0.0 : x; }
KW_DEVICE long kw_relu(long x) { return x < 0 ? 0 : x; }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_relu(kw_vec x) { return select(x, (kw_vec)(0.0f), x < 0.0f); }
#endif

// piece: maximum needs: device
KW_DEVICE float kw_maximum(float x, float y) { return x > y || x != x ? x : y; }
KW_DEVICE double kw_maximum(double x, double y) { return x > y || x != x ? x : y; }
KW_DEVICE long kw_maximum(long x, long y) { return x > y || x != x ? x : y; }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_maximum(kw_vec x, kw_vec y) { return select(y, x, (x > y) | (x != x)); }
#endif

// piece: minimum needs: device
KW_DEVICE float kw_minimum(float x, float y) { return x < y || x != x ? x : y; }
KW_DEVICE double kw_minimum(double x, double y) { return x < y || x != x ? x : y; }
KW_DEVICE long kw_minimum(long x, long y) { return x < y || x != x ? x : y; }
#ifdef KW_LANES
KW_DEVICE kw_vec kw_minimum(kw_vec x, kw_vec y) { return select(y, x, (x < y) | (x != x)); }
#endif
