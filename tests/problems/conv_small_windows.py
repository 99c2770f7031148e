"""3 x 3 windows with no stride over many channels: odd and even sizes, padded unevenly, grouped, transposed, with a third dimension, and with results that a
clamp cuts off, so that what is left of them has to be as precise as its small sums are."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = nn.Conv2d(9, 13, 3, padding=(0, 2))
        self.grouped = nn.Conv2d(18, 24, 3, padding=1, groups=2, bias=False)
        self.turned = nn.ConvTranspose2d(9, 8, 3, padding=1)
        self.deep = nn.Conv3d(9, 10, 3, stride=(2, 1, 1), padding=(1, 0, 1))
        self.short = nn.Conv2d(9, 12, 3)

    def forward(self, x, y):
        odd = torch.clamp(self.odd(x), max=0.3)
        return odd, torch.relu(self.grouped(torch.cat([x, -x], 1))), self.turned(x), self.deep(y).tanh(), self.short(x[:, :, :4, :5])


def get_inputs():
    return [torch.randn(2, 9, 21, 38), torch.randn(2, 9, 5, 9, 20)]


def get_init_inputs():
    return []
