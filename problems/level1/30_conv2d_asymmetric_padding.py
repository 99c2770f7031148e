"""Convolution whose padding differs on all four sides."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, HEIGHT, WIDTH = 6, 40, 56, 50, 70
LEFT, RIGHT, TOP, BOTTOM = 3, 1, 4, 0


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size)

    def forward(self, x):
        return self.conv(F.pad(x, (LEFT, RIGHT, TOP, BOTTOM)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, (5, 3)]
