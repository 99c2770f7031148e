// Tensor cores: fragments from shared memory and products of them by a warp. Pieces to paste; maths.cuh says how.
#pragma once

#include "lanes.cuh"

// piece: swizzled needs: device
// Where an element is in rows of Length elements of 2 bytes: groups of 8 change places by the row's number, so that the same group of
// eight rows lies in eight different places of the banks.
template <int Length>
KW_DEVICE int kw_swizzled(int row, int column) {
  constexpr int groups = Length / 8 < 8 ? Length / 8 : 8;
  return row * Length + ((column / 8) ^ (row / (8 / groups) % groups)) * 8 + column % 8;
}

// piece: matrices needs: device
// Four 8x8 matrices of 2-byte elements; each lane gives the address of one row.
KW_DEVICE void kw_matrices(unsigned (&to)[4], const void* row) {
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared)
               : "memory");
}

// piece: turned_matrices needs: device
// The same, each matrix turned round.
KW_DEVICE void kw_turned_matrices(unsigned (&to)[4], const void* row) {
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared)
               : "memory");
}

// piece: multiply_f16 needs: device
// sums += left (16x16) * right (16x8), with sums of floats.
KW_DEVICE void kw_multiply_f16(float (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

// piece: multiply_bf16 needs: device
KW_DEVICE void kw_multiply_bf16(float (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

// piece: multiply_tf32 needs: device
// sums += left (16x8) * right (8x8), of floats with 10 bits of fraction.
KW_DEVICE void kw_multiply_tf32(float (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

// piece: tf32_of needs: device
// A float rounded to what tensor cores multiply.
KW_DEVICE unsigned kw_tf32_of(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
