"""Product of two matrices that are both stored transposed."""

import torch
from torch import nn

ROWS, INNER, COLUMNS = 960, 1216, 832


class Model(nn.Module):
    def forward(self, a, b):
        return a.t() @ b.t()


def get_inputs():
    return [torch.randn(INNER, ROWS), torch.randn(COLUMNS, INNER)]


def get_init_inputs():
    return []
