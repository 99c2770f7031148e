"""A small U-Net: convolutions on three scales, and what each scale saw joined to what comes back up."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, CHANNELS, SIZE, WIDTH, CLASSES = 1, 3, 64, 24, 4


class Twice(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.first = nn.Conv2d(channels, out, kernel_size=3, padding=1)
        self.second = nn.Conv2d(out, out, kernel_size=3, padding=1)
        for layer in (self.first, self.second):
            nn.init.normal_(layer.weight, std=(2 / (9 * layer.in_channels)) ** 0.5)

    def forward(self, x):
        return F.silu(self.second(F.silu(self.first(x))))


class Model(nn.Module):
    def __init__(self, channels, width, classes):
        super().__init__()
        self.down = nn.ModuleList([Twice(channels, width), Twice(width, 2 * width)])
        self.deep = Twice(2 * width, 4 * width)
        self.raise_ = nn.ModuleList([nn.ConvTranspose2d(4 * width, 2 * width, kernel_size=2, stride=2),
                                     nn.ConvTranspose2d(2 * width, width, kernel_size=2, stride=2)])
        self.up = nn.ModuleList([Twice(4 * width, 2 * width), Twice(2 * width, width)])
        self.head = nn.Conv2d(width, classes, kernel_size=1)

    def forward(self, x):
        seen = []
        for block in self.down:
            x = block(x)
            seen.append(x)
            x = F.max_pool2d(x, kernel_size=2)
        x = self.deep(x)
        for raised, block in zip(self.raise_, self.up):
            x = block(torch.cat([raised(x), seen.pop()], dim=1))
        return self.head(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, WIDTH, CLASSES]
