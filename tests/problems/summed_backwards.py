"""Sums over short dimensions that are read backwards or turned round: g++ 12 adds some terms twice where it unrolls their loops."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm([67, 5])

    def forward(self, x, y):
        rows = self.norm(x.flip(1))
        shifted = torch.roll(y, 1, 2)
        return rows, shifted.mean((1, 2)), (shifted * shifted).sum((1, 2)), y.flip(2).sum((1, 2)), (y.flip(1, 2) * 0.5).exp().sum((0, 2))


def get_inputs():
    return [torch.randn(67, 5), torch.randn(6, 40, 4)]


def get_init_inputs():
    return []
