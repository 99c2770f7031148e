"""A 3x3x3 convolution of clips."""
import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, FRAMES, SIZE = 1, 32, 32, 16, 56


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(CHANNELS, OUT_CHANNELS, 3, padding=1, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, FRAMES, SIZE, SIZE)]


def get_init_inputs():
    return []
