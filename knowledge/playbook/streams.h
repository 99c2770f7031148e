// Stores past the caches where the machine's vectors fit the rows. Pieces to paste; vectors.h says how.
#pragma once

#include "vectors.h"

// piece: stream_if needs: vec stream store
// kw_stream where every row starts at a multiple of `step` floats that is one of a whole vector, else kw_store.
template <long step>
KW_INLINE void kw_stream_if(float* p, kw_vec v) {
  if constexpr (step % kw_lanes == 0) {
    kw_stream(p, v);
  } else {
    kw_store(p, v);
  }
}
