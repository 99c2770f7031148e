"""Product whose left factor is stored transposed, as in a weight gradient."""

import torch
from torch import nn

ROWS, INNER, COLUMNS = 1280, 768, 1024


class Model(nn.Module):
    def forward(self, a, b):
        return a.t() @ b


def get_inputs():
    return [torch.randn(INNER, ROWS), torch.randn(INNER, COLUMNS)]


def get_init_inputs():
    return []
