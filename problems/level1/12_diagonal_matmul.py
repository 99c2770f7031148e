"""Diagonal matrix, given by its diagonal, times a dense one."""

import torch
from torch import nn

N, COLUMNS = 832, 2048


class Model(nn.Module):
    def forward(self, diagonal, x):
        return torch.diag(diagonal) @ x


def get_inputs():
    return [torch.randn(N), torch.randn(N, COLUMNS)]


def get_init_inputs():
    return []
