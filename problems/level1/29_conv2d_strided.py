"""Strided convolution of an image stem: few input channels, a large kernel."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 8, 3, 64, 192


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size, stride):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size, stride=stride, padding=3, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 7, 2]
