"""Two-dimensional convolution with a kernel wider than it is high, as on spectrograms."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, HEIGHT, WIDTH = 6, 24, 40, 40, 120


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size, padding=(1, 4), bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, (3, 9)]
