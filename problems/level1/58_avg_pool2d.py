"""Two-dimensional average pooling that leaves the padding out of the mean."""

import torch
from torch import nn

BATCH, CHANNELS, SIZE = 12, 96, 112


class Model(nn.Module):
    def __init__(self, kernel_size, stride):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel_size, stride=stride, padding=1, count_include_pad=False)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [3, 2]
