"""Three-dimensional convolution over short clips."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, FRAMES, SIZE = 2, 16, 24, 16, 48


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv3d(channels, out_channels, kernel_size, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, FRAMES, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 3]
