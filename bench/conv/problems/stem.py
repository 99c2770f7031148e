"""The 7x7 convolution with stride 2 that networks for images begin with."""
import torch
from torch import nn

BATCH, CHANNELS, OUT_CHANNELS, SIZE = 4, 3, 64, 224


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(CHANNELS, OUT_CHANNELS, 7, stride=2, padding=3, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return []
