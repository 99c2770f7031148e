"""A batch of token sequences times one shared matrix."""

import torch
from torch import nn

BATCH, TOKENS, INNER, COLUMNS = 12, 320, 512, 768


class Model(nn.Module):
    def forward(self, x, weight):
        return torch.matmul(x, weight)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, INNER), torch.randn(INNER, COLUMNS)]


def get_init_inputs():
    return []
