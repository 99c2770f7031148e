# a @ b in float32: a block of the result for each program, ordered in groups so that operands are found in the cache again.
import triton
import triton.language as tl

# kw:knob BM 32 64 128
BM = 64
# kw:knob BN 32 64 128
BN = 64
# kw:knob BK 16 32
BK = 32
# kw:knob GROUP 1 4 8
GROUP = 4


@triton.jit
def matmul(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tile, across, down = tl.program_id(0), tl.cdiv(N, BN), tl.cdiv(M, BM)
    first = tile // (GROUP * across) * GROUP
    group = tl.minimum(down - first, GROUP)
    rows = (first + tile % (GROUP * across) % group) * BM + tl.arange(0, BM)[:, None]
    columns = tile % (GROUP * across) // group * BN + tl.arange(0, BN)[None, :]
    sums = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        of_left, of_right = start + tl.arange(0, BK)[None, :], start + tl.arange(0, BK)[:, None]
        left = tl.load(a + rows * K + of_left, mask=(rows < M) & (of_left < K), other=0.0)
        right = tl.load(b + of_right * N + columns, mask=(of_right < K) & (columns < N), other=0.0)
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(out + rows * N + columns, sums, mask=(rows < M) & (columns < N))


def launch(a, b, out):
    (M, K), N = a.shape, b.shape[1]
    matmul[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](a, b, out, M, N, K, BM=BM, BN=BN, BK=BK, GROUP=GROUP, num_warps=4, num_stages=2)
