"""Mish: x times the tanh of its softplus."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, CHANNELS, SIZE = 16, 96, 80


class Model(nn.Module):
    def forward(self, x):
        return F.mish(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE) * 2]


def get_init_inputs():
    return []
