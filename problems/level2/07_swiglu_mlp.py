"""Gated MLP: a SiLU branch multiplies a linear one, then both are projected back."""

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, FEATURES, HIDDEN = 640, 512, 1280


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.gate = nn.Linear(features, hidden, bias=False)
        self.up = nn.Linear(features, hidden, bias=False)
        self.down = nn.Linear(hidden, features, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def get_inputs():
    return [torch.randn(TOKENS, FEATURES) * 2]


def get_init_inputs():
    return [FEATURES, HIDDEN]
