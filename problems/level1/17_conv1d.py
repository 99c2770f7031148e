"""One-dimensional convolution over long signals."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, LENGTH = 8, 64, 96, 4096


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv1d(channels, out_channels, kernel_size, padding=kernel_size // 2)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 5]
