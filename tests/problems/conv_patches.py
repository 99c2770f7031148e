"""Convolutions to many channels whose patches are packed: rows of any width, strides, dilations, groups, uneven padding, one to three dimensions, windows of
which whole planes lie in the padding, and more channels than one panel takes."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.uneven = nn.Conv2d(11, 25, (5, 7), padding=(1, 4))
        self.strided = nn.Conv2d(11, 26, (4, 3), stride=(2, 3), dilation=(1, 2))
        self.grouped = nn.Conv2d(22, 60, 5, padding=2, groups=2, bias=False)
        self.narrow = nn.Conv2d(60, 24, (5, 3))
        self.line = nn.Conv1d(11, 31, 9, padding=4)
        self.deep = nn.Conv3d(5, 24, (3, 2, 5), padding=(3, 1, 1))
        self.turned = nn.ConvTranspose3d(5, 24, (3, 5, 2))

    def forward(self, x, y):
        grouped = self.grouped(torch.cat([x, -x], 1))
        return (
            torch.relu(self.uneven(x)),
            self.strided(x),
            self.narrow(grouped[:, :, :, :7]) * 2,
            self.line(x[:, :, 0]),
            self.deep(y).tanh(),
            self.turned(y),
        )


def get_inputs():
    return [torch.randn(2, 11, 13, 29), torch.randn(2, 5, 4, 6, 9)]


def get_init_inputs():
    return []
