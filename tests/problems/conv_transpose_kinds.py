"""Strides past the window, padding of the output, dilation and groups."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.ConvTranspose1d(4, 6, 5, stride=3, padding=1, output_padding=2, dilation=2, groups=2)
        self.plane = nn.ConvTranspose2d(4, 7, (4, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2))
        self.space = nn.ConvTranspose3d(4, 3, 3, stride=(2, 1, 2), padding=1, output_padding=(1, 0, 0), bias=False)

    def forward(self, x, y, z):
        return self.line(x), self.plane(y), self.space(z)


def get_inputs():
    return [torch.randn(2, 4, 31), torch.randn(2, 4, 9, 14), torch.randn(1, 4, 5, 6, 7)]


def get_init_inputs():
    return []
