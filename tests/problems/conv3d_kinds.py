"""Three dimensions, each with a window, stride, padding and dilation of its own."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cube = nn.Conv3d(3, 8, 3, padding=1)
        self.uneven = nn.Conv3d(3, 5, (3, 1, 2), stride=(2, 1, 3), padding=(2, 0, 1), dilation=(2, 1, 2))

    def forward(self, x):
        return self.cube(x), self.uneven(x)


def get_inputs():
    return [torch.randn(2, 3, 7, 11, 13)]


def get_init_inputs():
    return []
