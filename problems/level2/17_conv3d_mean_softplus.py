"""Convolution of clips, mean over time, softplus."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, FRAMES, SIZE = 4, 8, 24, 12, 44


class Model(nn.Module):
    def __init__(self, channels, out_channels):
        super().__init__()
        self.conv = nn.Conv3d(channels, out_channels, kernel_size=3, padding=(0, 1, 1))

    def forward(self, x):
        return F.softplus(self.conv(x).mean(dim=2))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, FRAMES, SIZE, SIZE) * 2]


def get_init_inputs():
    return [CHANNELS, OUT_CHANNELS]
