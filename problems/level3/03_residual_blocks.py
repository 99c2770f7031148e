"""A residual network: three stages of equal blocks, batch normalisation at inference."""

import torch
from torch import nn

BATCH, SIZE, CLASSES, BLOCKS = 2, 48, 100, 3


def varied(norm):
    """Scales, shifts and statistics that are not ones and zeros."""
    nn.init.normal_(norm.weight, mean=1.0, std=0.1)
    nn.init.normal_(norm.bias, std=0.1)
    nn.init.normal_(norm.running_mean, std=0.1)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, out, kernel_size=3, stride=stride, padding=1, bias=False)
        self.first_norm = varied(nn.BatchNorm2d(out))
        self.second = nn.Conv2d(out, out, kernel_size=3, padding=1, bias=False)
        self.second_norm = varied(nn.BatchNorm2d(out))
        self.shortcut = None
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, out, kernel_size=1, stride=stride, bias=False),
                                          varied(nn.BatchNorm2d(out)))

    def forward(self, x):
        y = torch.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        return torch.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Model(nn.Module):
    def __init__(self, blocks, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, kernel_size=3, padding=1, bias=False)
        self.stem_norm = varied(nn.BatchNorm2d(32))
        layers = []
        for channels, out, stride in [(32, 32, 1), (32, 64, 2), (64, 128, 2)]:
            layers += [Block(channels if i == 0 else out, out, stride if i == 0 else 1) for i in range(blocks)]
        self.stages = nn.Sequential(*layers)
        self.head = nn.Linear(128, classes)

    def forward(self, x):
        x = self.stages(torch.relu(self.stem_norm(self.stem(x))))
        return self.head(x.mean(dim=(2, 3)))


def get_inputs():
    return [torch.randn(BATCH, 3, SIZE, SIZE)]


def get_init_inputs():
    return [BLOCKS, CLASSES]
