"""Windows that are in the padding for much of the output: rows and planes of them, and all of it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.few = nn.ConvTranspose3d(24, 5, (3, 5, 7), bias=False)
        self.many = nn.ConvTranspose3d(16, 40, (3, 5, 5))
        self.plane = nn.Conv2d(32, 12, 7, padding=6)
        self.patches = nn.Conv2d(48, 30, (9, 3), stride=(2, 1), padding=(11, 1), dilation=(2, 1))
        self.row = nn.Conv2d(64, 26, (7, 3), padding=(3, 1))
        self.nothing = nn.Conv2d(64, 25, (1, 2), padding=(3, 0), bias=False)

    def forward(self, x, y, z, line):
        return self.few(x), self.many(y), self.plane(z[:, :32]), self.patches(z), self.row(line), self.nothing(line)


def get_inputs():
    return [torch.randn(1, 24, 3, 6, 17), torch.randn(2, 16, 3, 7, 5), torch.randn(2, 48, 11, 19), torch.randn(1, 64, 1, 33)]


def get_init_inputs():
    return []
