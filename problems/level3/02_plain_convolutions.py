"""A stack of 3x3 convolutions with pooling between them, and a classifier."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIZE, CLASSES = 2, 48, 100
WIDTHS = [(3, 32, 2), (32, 64, 2), (64, 128, 3), (128, 128, 3)]


class Model(nn.Module):
    def __init__(self, widths, size, classes):
        super().__init__()
        self.blocks = nn.ModuleList()
        for channels, out, count in widths:
            layers = [nn.Conv2d(channels if i == 0 else out, out, kernel_size=3, padding=1) for i in range(count)]
            for layer in layers:
                nn.init.normal_(layer.weight, std=(2 / (9 * layer.in_channels)) ** 0.5)
            self.blocks.append(nn.ModuleList(layers))
        self.hidden = nn.Linear(widths[-1][1] * (size // 2 ** len(widths)) ** 2, 512)
        self.head = nn.Linear(512, classes)

    def forward(self, x):
        for block in self.blocks:
            for layer in block:
                x = torch.relu(layer(x))
            x = F.max_pool2d(x, kernel_size=2)
        return self.head(torch.relu(self.hidden(torch.flatten(x, 1))))


def get_inputs():
    return [torch.randn(BATCH, 3, SIZE, SIZE)]


def get_init_inputs():
    return [WIDTHS, SIZE, CLASSES]
