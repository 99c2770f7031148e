"""One product for each pair of matrices in a batch."""

import torch
from torch import nn

BATCH, ROWS, INNER, COLUMNS = 48, 384, 160, 320


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(BATCH, ROWS, INNER), torch.randn(BATCH, INNER, COLUMNS)]


def get_init_inputs():
    return []
