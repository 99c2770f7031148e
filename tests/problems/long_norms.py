"""Normalisations of rows that no second cache holds, of sizes that no vector divides, and far from zero."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LayerNorm([2, 331, 331])
        self.group = nn.GroupNorm(1, 2)
        self.instance = nn.InstanceNorm2d(2)

    def forward(self, x):
        return self.layer(x), torch.relu(self.group(x * 3 + 50)), self.instance(x)


def get_inputs():
    return [torch.randn(4, 2, 331, 331)]


def get_init_inputs():
    return []
