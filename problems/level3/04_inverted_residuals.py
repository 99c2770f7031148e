"""Inverted residual blocks: pointwise, depthwise and pointwise convolutions, clipped at six."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIZE, CLASSES = 2, 56, 100
STAGES = [(16, 24, 2, 2), (24, 40, 3, 2), (40, 80, 3, 2)]


def varied(norm):
    """Scales, shifts and statistics that are not ones and zeros."""
    nn.init.normal_(norm.weight, mean=1.0, std=0.1)
    nn.init.normal_(norm.bias, std=0.1)
    nn.init.normal_(norm.running_mean, std=0.1)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class Block(nn.Module):
    def __init__(self, channels, out, stride, growth=4):
        super().__init__()
        inner = channels * growth
        self.widen = nn.Conv2d(channels, inner, kernel_size=1, bias=False)
        self.widen_norm = varied(nn.BatchNorm2d(inner))
        self.spread = nn.Conv2d(inner, inner, kernel_size=3, stride=stride, padding=1, groups=inner, bias=False)
        self.spread_norm = varied(nn.BatchNorm2d(inner))
        self.narrow = nn.Conv2d(inner, out, kernel_size=1, bias=False)
        self.narrow_norm = varied(nn.BatchNorm2d(out))
        self.keeps = stride == 1 and channels == out

    def forward(self, x):
        y = F.relu6(self.widen_norm(self.widen(x)))
        y = F.relu6(self.spread_norm(self.spread(y)))
        y = self.narrow_norm(self.narrow(y))
        return x + y if self.keeps else y


class Model(nn.Module):
    def __init__(self, stages, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, stages[0][0], kernel_size=3, stride=2, padding=1, bias=False)
        self.stem_norm = varied(nn.BatchNorm2d(stages[0][0]))
        layers = []
        for channels, out, count, stride in stages:
            layers += [Block(channels if i == 0 else out, out, stride if i == 0 else 1) for i in range(count)]
        self.stages = nn.Sequential(*layers)
        self.head = nn.Linear(stages[-1][1], classes)

    def forward(self, x):
        x = self.stages(F.relu6(self.stem_norm(self.stem(x))))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def get_inputs():
    return [torch.randn(BATCH, 3, SIZE, SIZE) * 2]


def get_init_inputs():
    return [STAGES, CLASSES]
