"""A 1x1 convolution that widens a bottleneck."""
import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 4, 64, 256, 56


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(CHANNELS, OUT_CHANNELS, 1, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return []
