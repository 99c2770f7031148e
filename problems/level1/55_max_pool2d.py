"""Two-dimensional maximum pooling with overlapping windows."""

import torch
from torch import nn

BATCH, CHANNELS, SIZE = 16, 64, 120


class Model(nn.Module):
    def __init__(self, kernel_size, stride):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size, stride=stride, padding=1)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [3, 2]
