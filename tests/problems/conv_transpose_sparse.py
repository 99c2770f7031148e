"""Transposed convolutions whose stride and dilation are both two: some outputs have all taps of the window, and those between them none."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.space = nn.ConvTranspose3d(18, 7, 3, stride=2, padding=1, dilation=2, bias=False)
        self.plane = nn.ConvTranspose2d(18, 5, (3, 5), stride=2, dilation=(2, 4))
        self.line = nn.ConvTranspose1d(18, 26, 5, stride=3, dilation=3, output_padding=2)

    def forward(self, x):
        return self.space(x), torch.relu(self.plane(x[:, :, 0])), self.line(x[:, :, 1, 2])


def get_inputs():
    return [torch.rand(2, 18, 5, 6, 9)]


def get_init_inputs():
    return []
