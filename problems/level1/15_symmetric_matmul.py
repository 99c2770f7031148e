"""Product of two symmetric matrices."""

import torch
from torch import nn

N = 1088


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def symmetric(n):
    half = torch.randn(n, n)
    return (half + half.t()) / 2


def get_inputs():
    return [symmetric(N), symmetric(N)]


def get_init_inputs():
    return []
