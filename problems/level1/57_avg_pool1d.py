"""One-dimensional average pooling."""

import torch
from torch import nn

BATCH, CHANNELS, LENGTH = 24, 80, 7680


class Model(nn.Module):
    def __init__(self, kernel_size, stride):
        super().__init__()
        self.pool = nn.AvgPool1d(kernel_size, stride=stride, padding=2)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [4, 2]
