# torch.relu(x) * 2.5: one pass, neighbouring lanes on neighbouring elements.
import triton
import triton.language as tl

# kw:knob BLOCK 256 512 1024 2048
BLOCK = 1024


@triton.jit
def scale_relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value) * 2.5, mask=i < n)


def launch(x, out):
    scale_relu[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
