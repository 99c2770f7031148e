"""A long, narrow matrix times a small one: many rows, few output columns."""

import torch
from torch import nn

ROWS, INNER, COLUMNS = 40960, 448, 40


class Model(nn.Module):
    def forward(self, a, b):
        return torch.mm(a, b)


def get_inputs():
    return [torch.randn(ROWS, INNER), torch.randn(INNER, COLUMNS)]


def get_init_inputs():
    return []
