"""Each program with inputs, PyTorch's answer and how far off one may be. `python triton_cases.py FILE` computes all in Triton's interpreter
(or on whatever Triton finds) and saves the answers."""

import sys

import triton_programs as programs
import torch

HALF, FLOAT = torch.float16, torch.float32


def random(*shape, dtype=FLOAT, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=FLOAT).to(dtype)


def tolerance(dtype):
    return 1e-5 if dtype == FLOAT else 4e-3


def vector_add(dtype):
    x, y = random(2500, dtype=dtype), random(2500, dtype=dtype, seed=1)
    return programs.vector_add(x, y), x + y


def softmax(dtype):
    x = random(13, 300, dtype=dtype)
    return programs.softmax(x), torch.softmax(x.float(), 1)


def matmul(dtype):
    a, b = random(70, 90, dtype=dtype), random(90, 50, dtype=dtype, seed=1)
    return programs.matmul(a / 8, b), torch.matmul((a / 8).float(), b.float())


def matmul_leaky(dtype):
    a, b = random(64, 64, dtype=dtype), random(48, 64, dtype=dtype, seed=1).t()
    return programs.matmul(a / 8, b, "leaky_relu"), torch.nn.functional.leaky_relu(torch.matmul((a / 8).float(), b.float()))


def layer_norm(dtype):
    x, dy = random(9, 200, dtype=dtype), random(9, 200, dtype=dtype, seed=1) / 8
    weight, bias = random(200, dtype=dtype, seed=2), random(200, dtype=dtype, seed=3)
    wide = [each.to(FLOAT, copy=True).requires_grad_() for each in (x, weight, bias)]
    y = torch.nn.functional.layer_norm(wide[0], (200,), wide[1], wide[2])
    y.backward(dy.float())
    return programs.layer_norm(x, weight, bias, dy), (y.detach(), *(each.grad for each in wide))


def dropout(dtype):
    x = random(1000, dtype=dtype) + 10
    first, again, other = (programs.dropout(x, 0.3, seed) for seed in (17, 17, 18))
    assert torch.equal(first, again) and not torch.equal(first, other)
    kept = (first != 0).float().mean().item()
    assert 0.6 < kept < 0.8, kept
    return first, torch.where(first != 0, x.float() / 0.7, 0)


def attention(dtype):
    q, k, v = (random(2, 80, 32, dtype=dtype, seed=seed) for seed in range(3))
    return programs.attention(q, k, v), torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())


def attention_causal(dtype):
    q, k, v = (random(2, 96, 16, dtype=dtype, seed=seed) for seed in range(3))
    wide = (each.float() for each in (q, k, v))
    return programs.attention(q, k, v, causal=True), torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=True)


def scans(dtype):
    x = random(5, 100, dtype=dtype)
    wide = x.float()
    return programs.scans(x), (wide.cumsum(1), (1 + wide / 8).cumprod(1))


CASES = [vector_add, softmax, matmul, matmul_leaky, layer_norm, dropout, attention, attention_causal, scans]


def as_tuple(answer):
    return answer if isinstance(answer, tuple) else (answer,)


def check(name, dtype, got, expected):
    """`got` has the dtype that was asked for, and is as near as its precision allows."""
    for part, (one, other) in enumerate(zip(as_tuple(got), as_tuple(expected), strict=True)):
        assert one.dtype == dtype and one.shape == other.shape, f"{name}[{part}]: {one.dtype} {tuple(one.shape)}"
        off = (one.double() - other.double()).abs().max().item()
        scale = max(1.0, other.double().abs().max().item())
        assert off <= tolerance(dtype) * scale, f"{name}[{part}] is {off} off, of {scale}"


def integers():
    """The histogram: exact, or wrong."""
    x = torch.randint(0, 20, (3000,), generator=torch.Generator().manual_seed(5), dtype=torch.int32)
    return programs.histogram(x, 20), torch.bincount(x, minlength=20).to(torch.int32)


def main():
    answers = {f"{case.__name__} {dtype}": as_tuple(case(dtype)[0]) for case in CASES for dtype in (FLOAT, HALF)}
    answers["histogram"] = integers()[0]
    torch.save(answers, sys.argv[1])


if __name__ == "__main__":
    main()
