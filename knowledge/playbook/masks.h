// Masks from memory. Pieces to paste; vectors.h says how.
#pragma once

#include "vectors.h"

// piece: load_mask needs: vec
// kw_lanes truth values, one byte each.
KW_INLINE kw_mask kw_load_mask(const bool* p) {
  typedef unsigned char kw_bytes __attribute__((vector_size(kw_lanes)));
  kw_bytes bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return __builtin_convertvector(bytes, kw_ivec) != 0;
}
