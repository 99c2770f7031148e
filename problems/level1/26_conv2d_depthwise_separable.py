"""Depthwise convolution followed by a pointwise one."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 8, 64, 96, 80


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, kernel_size, padding=2, groups=channels, bias=False)
        self.pointwise = nn.Conv2d(channels, out_channels, kernel_size=1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 5]
