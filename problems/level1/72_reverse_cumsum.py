"""Running sum of each row from its end, as for discounted returns without discount."""

import torch
from torch import nn

ROWS, COLUMNS = 5632, 1600


class Model(nn.Module):
    def forward(self, x):
        return x.flip(1).cumsum(dim=1).flip(1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
