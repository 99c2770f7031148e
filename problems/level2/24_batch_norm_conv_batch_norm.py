"""Pointwise convolution between two batch normalisations, both of which fold into it."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 8, 96, 112, 64


class Model(nn.Module):
    def __init__(self, channels, out_channels):
        super().__init__()
        self.before = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, out_channels, kernel_size=1)
        self.after = nn.BatchNorm2d(out_channels)
        for norm in (self.before, self.after):
            nn.init.normal_(norm.weight, mean=1.0, std=0.2)
            nn.init.normal_(norm.bias, std=0.3)
            nn.init.normal_(norm.running_mean, std=0.3)
            nn.init.uniform_(norm.running_var, 0.4, 1.6)

    def forward(self, x):
        return self.after(self.conv(self.before(x)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS]
