"""Group normalisation of feature maps in eight groups."""

import torch
from torch import nn

BATCH, CHANNELS, SIZE = 12, 96, 100


class Model(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE) * 1.5 - 0.25]


def get_init_inputs():
    return [8, CHANNELS]
