// Sine and cosine on vectors, within 2 units in the last place; arguments past 8192 go to libm, lane by lane.
// Pieces to paste; vectors.h says how.
#pragma once

#include "maths_basic.h"

// piece: trig_parts needs: vec
// x = q pi / 2 + r with |r| <= pi / 4, and the sine and cosine of r; for |x| <= 8192.
struct kw_trig_parts {
  kw_ivec quadrant;
  kw_vec sine, cosine;
};
KW_INLINE kw_trig_parts kw_split_trig(kw_vec x) {
  const kw_vec shifted = x * 0.636619772f + 12582912.0f;  // 1.5 * 2^23: the low bits of the sum are the rounded product
  const kw_vec q = shifted - 12582912.0f;
  // pi / 2 in parts of 11 bits, whose products with q are exact.
  const kw_vec r = ((x - q * 1.5703125f) - q * 4.837512969970703125e-4f) - q * 7.5495336204767227e-8f - q * 2.56334415e-12f;
  const kw_vec s = r * r;
  kw_vec a = s * -1.9515295891e-4f + 8.3321608736e-3f;
  a = a * s - 1.6666654611e-1f;
  kw_vec b = s * 2.443315711809948e-5f - 1.388731625493765e-3f;
  b = b * s + 4.166664568298827e-2f;
  return {(kw_ivec)shifted, (a * s) * r + r, (b * s) * s - 0.5f * s + 1.0f};
}

// piece: sin needs: vec abs any each cmath trig_parts
KW_INLINE kw_vec kw_sin(kw_vec x) {
  if (kw_any(kw_abs(x) > 8192.0f)) return kw_each(x, [](float v) { return std::sin(v); });
  const kw_trig_parts t = kw_split_trig(x);
  const kw_vec y = (t.quadrant & 1) != 0 ? t.cosine : t.sine;
  return (kw_vec)((kw_ivec)y ^ ((t.quadrant & 2) << 30));
}

// piece: cos needs: vec abs any each cmath trig_parts
KW_INLINE kw_vec kw_cos(kw_vec x) {
  if (kw_any(kw_abs(x) > 8192.0f)) return kw_each(x, [](float v) { return std::cos(v); });
  const kw_trig_parts t = kw_split_trig(x);
  const kw_vec y = (t.quadrant & 1) != 0 ? t.sine : t.cosine;
  return (kw_vec)((kw_ivec)y ^ ((((t.quadrant & 3) + 1) & 2) << 30));
}
