"""Convolution in eight groups of channels."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 8, 128, 192, 52


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size, padding=1, groups=groups)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 3, 8]
