// Stores past the caches where the machine's vectors fit the rows. Pieces to paste; vectors.h says how.
#pragma once

#include "vectors.h"

// piece: stream_line needs: vec stream store
// Into a row from first to last, at p that is a multiple of `step` floats (0: anything): past the caches where p is a multiple of a
// whole vector and the whole cache line belongs to the row, since half a line that waits for its other half is written twice.
template <long step>
KW_INLINE void kw_stream_line(float* p, kw_vec v, const float* first, const float* last) {
  if constexpr (step % kw_lanes == 0) {
    const float* const line = p - (reinterpret_cast<std::size_t>(p) % 64) / sizeof(float);
    const bool whole = reinterpret_cast<std::size_t>(p) % sizeof(kw_vec) == 0;
    if (whole && line >= first && line + 16 <= last) return kw_stream(p, v);
  }
  kw_store(p, v);
}
