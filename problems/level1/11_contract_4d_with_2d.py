"""Contraction of the last dimension of a four-dimensional tensor with a matrix."""

import torch
from torch import nn

BATCH, HEIGHT, WIDTH, INNER, COLUMNS = 6, 24, 36, 288, 640


class Model(nn.Module):
    def forward(self, x, weight):
        return torch.einsum("bhwc,ck->bhwk", x, weight)


def get_inputs():
    return [torch.randn(BATCH, HEIGHT, WIDTH, INNER), torch.randn(INNER, COLUMNS)]


def get_init_inputs():
    return []
