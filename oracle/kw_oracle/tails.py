"""Operations whose float64 results in PyTorch have no digits left where they are small, computed so that they keep them. GELU
is x (1 + erf(x / sqrt 2)) / 2: below -8.3 the sum is 0 in float64, and the result is not; a kernel that has the tail right
would be called wrong."""

import math

import torch


def _gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    if approximate == "tanh":  # 1 + tanh(u) = 2 sigmoid(2 u)
        return x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))
    return 0.5 * x * torch.special.erfc(x * -math.sqrt(0.5))


_PRECISE = {torch.ops.aten.gelu.default: _gelu}


def precise(func, args):
    """What to call in place of `func`: itself, where its arguments are not float64 or nothing is to be gained."""
    in_double = bool(args) and isinstance(args[0], torch.Tensor) and args[0].dtype == torch.float64
    return _PRECISE.get(func, func) if in_double else func
