// Copies from memory to shared memory that no thread waits for. Pieces to paste; maths.cuh says how.
#pragma once

#include "lanes.cuh"

// piece: copy16 needs: device
// 16 bytes at multiples of 16; zeros where it is not inside.
KW_DEVICE void kw_copy16(void* to, const void* from, bool inside) {
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

// piece: move16 needs: device
// The same by way of registers.
KW_DEVICE void kw_move16(void* to, const void* from, bool inside) {
  *static_cast<uint4*>(to) = inside ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
}

// piece: copy_commit needs: device
KW_DEVICE void kw_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// piece: copy_wait needs: device
// Until all but the last groups have arrived.
template <int Groups>
KW_DEVICE void kw_copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}
