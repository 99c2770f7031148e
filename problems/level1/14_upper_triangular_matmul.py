"""Upper triangular matrix times a dense one."""

import torch
from torch import nn

N, COLUMNS = 1216, 896


class Model(nn.Module):
    def forward(self, upper, x):
        return torch.triu(upper) @ x


def get_inputs():
    return [torch.randn(N, N).triu(), torch.randn(N, COLUMNS)]


def get_init_inputs():
    return []
