"""Product whose right factor is stored transposed, as the weight of a linear layer is."""

import torch
from torch import nn

ROWS, INNER, COLUMNS = 1152, 896, 1088


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b.t()


def get_inputs():
    return [torch.randn(ROWS, INNER), torch.randn(COLUMNS, INNER)]


def get_init_inputs():
    return []
