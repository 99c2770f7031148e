"""Dilated convolution, as in segmentation heads."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 4, 48, 56, 72


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size, dilation):
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel_size, padding=dilation, dilation=dilation)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 3, 4]
