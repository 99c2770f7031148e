"""Leaky rectified linear unit with a slope of its own."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, COLUMNS = 3328, 3584


class Model(nn.Module):
    def __init__(self, negative_slope):
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x):
        return F.leaky_relu(x, self.negative_slope)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [0.15]
