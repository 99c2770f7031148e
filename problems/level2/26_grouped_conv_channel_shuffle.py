"""Grouped pointwise convolution and channel shuffle, so that groups meet in the next layer."""

import torch
from torch import nn

BATCH, CHANNELS, GROUPS, SIZE = 16, 144, 4, 64


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.groups = groups
        self.conv = nn.Conv2d(channels, channels, kernel_size=1, groups=groups)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        return y.unflatten(1, (self.groups, -1)).transpose(1, 2).flatten(1, 2)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE) * 1.5]


def get_init_inputs():
    return [CHANNELS, GROUPS]
