"""Running product along each row of values near one."""

import torch
from torch import nn

ROWS, COLUMNS = 16384, 576


class Model(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, dim=1)


def get_inputs():
    return [1 + 0.03 * torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
