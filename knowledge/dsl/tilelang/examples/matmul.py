# a @ b in float32: tiles of both come to shared memory, and each thread sums up a small tile of the result.
import tilelang
import tilelang.language as T

# kw:knob TILE 32 64 128
TILE = 64
# kw:knob DEPTH 8 16 32
DEPTH = 16
EACH = 4  # rows and columns of a thread's own tile


@tilelang.jit
def matmul(M, N, K, tile, depth, each):
    side = tile // each
    threads = side * side

    @T.prim_func
    def main(a: T.Tensor((M, K), "float32"), b: T.Tensor((K, N), "float32"), out: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, tile), T.ceildiv(M, tile), threads=threads) as (bx, by):
            tx = T.get_thread_binding()
            left = T.alloc_shared((tile, depth), "float32")
            right = T.alloc_shared((depth, tile), "float32")
            total = T.alloc_local((each * each,), "float32")
            for i in T.unroll(each * each):
                total[i] = T.float32(0)
            for k in T.serial(T.ceildiv(K, depth)):
                T.copy(a[by * tile, k * depth], left)
                T.copy(b[k * depth, bx * tile], right)
                for kk in T.serial(depth):
                    for i in T.unroll(each):
                        for j in T.unroll(each):
                            total[i * each + j] = (total[i * each + j]
                                                   + left[i * side + tx // side, kk] * right[kk, j * side + tx % side])
            for i in T.unroll(each):
                for j in T.unroll(each):
                    row = by * tile + i * side + tx // side
                    column = bx * tile + j * side + tx % side
                    if row < M and column < N:
                        out[row, column] = total[i * each + j]

    return main


def launch(a, b, out):
    matmul(a.shape[0], b.shape[1], a.shape[1], TILE, DEPTH, EACH)(a, b, out)
