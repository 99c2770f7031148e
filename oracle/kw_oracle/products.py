"""`python -m kw_oracle.products`: one product, convolution and attention of each floating type, whose name is printed once they
have run. A process of its own: on a processor that does not run what it advertises, this one dies."""

import sys

import torch
import torch.nn.functional as F

TYPES = ("float32", "bfloat16", "float16")


def run_in(dtype: torch.dtype) -> None:
    """Large enough for the paths that use a processor's own products; small enough to take no time."""
    with torch.no_grad():
        matrix = torch.ones(64, 64, dtype=dtype)
        F.linear(matrix, matrix)
        torch.bmm(matrix[None], matrix[None])
        F.conv2d(torch.ones(1, 32, 16, 16, dtype=dtype), torch.ones(32, 32, 3, 3, dtype=dtype), padding=1)
        heads = torch.ones(1, 2, 512, 64, dtype=dtype)
        F.scaled_dot_product_attention(heads, heads, heads)


def main() -> None:
    for name in TYPES:
        run_in(getattr(torch, name))
        print(name, flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
