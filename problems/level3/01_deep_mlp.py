"""A deep and narrow MLP: sixteen equal hidden layers."""

import torch
from torch import nn

BATCH, FEATURES, HIDDEN, LAYERS, CLASSES = 256, 512, 256, 16, 128


class Model(nn.Module):
    def __init__(self, features, hidden, layers, classes):
        super().__init__()
        widths = [features] + [hidden] * layers
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        for layer in self.layers:
            nn.init.normal_(layer.weight, std=(2 / layer.in_features) ** 0.5)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


def get_inputs():
    return [torch.randn(BATCH, FEATURES)]


def get_init_inputs():
    return [FEATURES, HIDDEN, LAYERS, CLASSES]
