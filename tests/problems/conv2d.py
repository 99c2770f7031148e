"""A small 3x3 convolution with bias."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(2, 8, 24, 24)]


def get_init_inputs():
    return [8, 16]
