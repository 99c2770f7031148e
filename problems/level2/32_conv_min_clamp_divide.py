"""Convolution, element-wise minimum with a learned ceiling, clamp and division."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 8, 32, 64, 60


class Model(nn.Module):
    def __init__(self, channels, out_channels, floor, divisor):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size=3, padding=1)
        self.ceiling = nn.Parameter(0.8 + 0.2 * torch.randn(out_channels, 1, 1))
        self.floor = floor
        self.divisor = divisor

    def forward(self, x):
        return torch.clamp(torch.minimum(self.conv(x), self.ceiling), min=self.floor) / self.divisor


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE) * 1.5]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, -1.2, 1.6]
