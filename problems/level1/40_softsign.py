"""Softsign: x over one plus its magnitude."""

import torch
from torch import nn

ROWS, COLUMNS = 3840, 2816


class Model(nn.Module):
    def forward(self, x):
        return x / (1 + x.abs())


def get_inputs():
    return [torch.randn(ROWS, COLUMNS) * 2]


def get_init_inputs():
    return []
