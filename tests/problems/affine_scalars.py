"""Scalars of every kind: a float, an int and a bool."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale: float, offset: int, negate: bool):
        y = x * scale + offset
        return -y if negate else y


def get_inputs():
    return [torch.randn(64, 127), 0.75, 3, True]


def get_init_inputs():
    return []
