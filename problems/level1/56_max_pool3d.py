"""Three-dimensional maximum pooling of volumes."""

import torch
from torch import nn

BATCH, CHANNELS, SIZE = 4, 32, 52


class Model(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.pool = nn.MaxPool3d(kernel_size)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE, SIZE)]


def get_init_inputs():
    return [2]
