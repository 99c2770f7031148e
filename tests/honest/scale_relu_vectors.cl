// Vectors of sixteen, a tail in the last work-item, sizes by a knob.
#include "problem.h"
// kw:knob KW_LOCAL 8 32
#ifndef KW_LOCAL
#define KW_LOCAL 32
#endif
#define PIECES ((x_numel + 15) / 16)
// kw:launch scale groups=(PIECES + KW_LOCAL - 1) / KW_LOCAL local=KW_LOCAL
__kernel void scale(__global const float* restrict x, __global float* restrict out) {
  const int i = get_global_id(0) * 16;
  if (i + 16 <= x_numel)
    vstore16(fmax(vload16(0, x + i), 0.0f) * 2.5f, 0, out + i);
  else
    for (int j = i; j < x_numel; ++j) out[j] = fmax(x[j], 0.0f) * 2.5f;
}
