"""Three-dimensional average pooling of volumes."""

import torch
from torch import nn

BATCH, CHANNELS, FRAMES, SIZE = 4, 40, 32, 60


class Model(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.pool = nn.AvgPool3d(kernel_size)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, FRAMES, SIZE, SIZE)]


def get_init_inputs():
    return [2]
