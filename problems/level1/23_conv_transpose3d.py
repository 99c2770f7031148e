"""Transposed three-dimensional convolution that doubles a volume's resolution."""

import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 2, 24, 16, 23


class Model(nn.Module):
    def __init__(self, channels, out_channels, kernel_size, stride):
        super().__init__()
        self.conv = nn.ConvTranspose3d(
            channels, out_channels, kernel_size, stride=stride, padding=1, output_padding=1
        )

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS, 3, 2]
