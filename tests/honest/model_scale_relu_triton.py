"""A Triton kernel as users write it, with its assertions about CUDA."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n)
    tl.store(out_ptr + places, tl.maximum(x, 0.0) * 2.5, mask=places < n)


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.is_cuda
        x = x.cuda().contiguous()
        out = torch.empty(x.shape, dtype=x.dtype, device="cuda")
        scale_relu[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        torch.cuda.synchronize()
        return out
