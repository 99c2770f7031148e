"""Position of the largest element of each row."""

import torch
from torch import nn

ROWS, COLUMNS = 9216, 2048


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
