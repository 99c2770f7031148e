"""Running sum of everything before each element: it starts with zero."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, COLUMNS = 7680, 1152


class Model(nn.Module):
    def forward(self, x):
        return F.pad(x.cumsum(dim=1)[:, :-1], (1, 0))


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
