"""A product with a small result and a very long inner dimension."""

import torch
from torch import nn

ROWS, INNER, COLUMNS = 192, 49152, 160


class Model(nn.Module):
    def forward(self, a, b):
        return a.matmul(b)


def get_inputs():
    return [torch.randn(ROWS, INNER), torch.randn(INNER, COLUMNS)]


def get_init_inputs():
    return []
