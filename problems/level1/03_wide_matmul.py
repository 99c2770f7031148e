"""A few rows times a very wide matrix."""

import torch
from torch import nn

ROWS, INNER, COLUMNS = 48, 960, 18432


class Model(nn.Module):
    def forward(self, a, b):
        return torch.mm(a, b)


def get_inputs():
    return [torch.randn(ROWS, INNER), torch.randn(INNER, COLUMNS)]


def get_init_inputs():
    return []
