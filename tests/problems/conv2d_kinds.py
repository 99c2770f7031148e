"""Windows, strides, dilations and paddings that differ by dimension, and channels that fill no tile."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = nn.Conv2d(5, 13, (5, 2), stride=(3, 2), padding=(2, 1), bias=False)
        self.dilated = nn.Conv2d(5, 17, 3, padding=(4, 3), dilation=(4, 3))
        self.sparse = nn.Conv2d(5, 3, (2, 1), stride=(5, 4), padding=(0, 3))
        self.pixels = nn.Conv2d(5, 9, 1, stride=2)

    def forward(self, x):
        return self.odd(x), self.dilated(x), self.sparse(x), self.pixels(x)


def get_inputs():
    return [torch.randn(2, 5, 23, 37)]


def get_init_inputs():
    return []
