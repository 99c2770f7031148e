"""Convolutions of many channels over few pixels: threads share the features, in tiles that leave some over, with and without Winograd's form."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.eights = nn.Conv2d(64, 100, 3, padding=1)
        self.fours = nn.Conv2d(100, 130, 3, padding=1)
        self.two = nn.Conv2d(130, 70, 5, padding=2, stride=2)
        self.line = nn.Conv1d(64, 90, 3, padding=1)
        self.deep = nn.Conv3d(40, 60, (1, 3, 3), padding=(0, 1, 1))

    def forward(self, x, y, z):
        a = torch.relu(self.eights(x))
        b = torch.tanh(self.fours(a[:, :, ::2, ::2]))
        return a, b, self.two(b), self.line(y).sigmoid(), self.deep(z)


def get_inputs():
    return [torch.randn(1, 64, 8, 8), torch.randn(1, 64, 17), torch.randn(1, 40, 1, 9, 9)]


def get_init_inputs():
    return []
