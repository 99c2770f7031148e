"""Matrix times vector: every element of the matrix is used once."""

import torch
from torch import nn

ROWS, COLUMNS = 4864, 5120


class Model(nn.Module):
    def forward(self, matrix, vector):
        return torch.mv(matrix, vector)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(COLUMNS)]


def get_init_inputs():
    return []
