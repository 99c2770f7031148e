"""Pointwise (1x1) convolution that mixes channels."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 8, 96, 128, 88


class Model(nn.Module):
    def __init__(self, channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS]
