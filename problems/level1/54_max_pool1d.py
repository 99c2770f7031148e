"""One-dimensional maximum pooling with overlapping windows."""

import torch
from torch import nn

BATCH, CHANNELS, LENGTH = 16, 96, 8192


class Model(nn.Module):
    def __init__(self, kernel_size, stride):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel_size, stride=stride, padding=2)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [5, 2]
