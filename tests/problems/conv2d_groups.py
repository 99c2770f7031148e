"""A depthwise convolution, one with two features of each channel, groups of pixels, then pixels of all."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv2d(6, 6, 5, padding=2, groups=6, bias=False)
        self.doubled = nn.Conv2d(6, 12, 3, stride=2, padding=1, groups=6)
        self.grouped = nn.Conv2d(6, 9, 1, groups=3)
        self.mixed = nn.Conv2d(6, 11, 1)

    def forward(self, x):
        y = self.depthwise(x)
        return self.doubled(x), self.grouped(y), self.mixed(y)


def get_inputs():
    return [torch.randn(2, 6, 19, 29)]


def get_init_inputs():
    return []
