"""Kernels of the tests of the virtual GPU, in Triton. Prints nothing; writes triton_product.ptx and triton_softmax.ptx beside itself.

The .file lines are cut to names afterwards, so that no path of a machine is in the texts.
"""
import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(k + rk)[None, :] < K, other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=(k + rk)[:, None] < K, other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def softmax(o, i, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    x = tl.load(i + r * n + c, mask=c < n, other=-float("inf"))
    x = tl.exp(x - tl.max(x, 0))
    tl.store(o + r * n + c, x / tl.sum(x, 0), mask=c < n)


def write(name, fn, signature, constants):
    signature = dict(signature) | {key: "constexpr" for key in constants}
    source = ASTSource(fn=fn, signature=signature, constexprs=constants)
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4, "num_stages": 3})
    text = re.sub(r'(\.file\s+\d+ ")[^"]*/((?:triton/)?[^/"]+")', r"\1\2", made.asm["ptx"])
    (pathlib.Path(__file__).parent / name).write_text(text)


if __name__ == "__main__":
    pointers = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    write("triton_product.ptx", mm, pointers, {"BM": 64, "BN": 64, "BK": 32})
    write("triton_softmax.ptx", softmax, {"o": "*fp32", "i": "*fp32", "n": "i32"}, {"B": 1024})
