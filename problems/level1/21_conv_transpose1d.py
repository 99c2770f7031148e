"""Transposed one-dimensional convolution that upsamples a signal four times."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, LENGTH = 8, 96, 48, 2048


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size, stride):
        super().__init__()
        self.conv = nn.ConvTranspose1d(channels, out_channels, kernel_size, stride=stride, padding=2)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 8, 4]
