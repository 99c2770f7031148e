"""Rotary position embedding of queries and keys."""

import torch
from torch import nn

BATCH, HEADS, TOKENS, HEAD_SIZE = 4, 12, 1024, 96


class Model(nn.Module):
    def __init__(self, tokens, head_size):
        super().__init__()
        frequency = 10000.0 ** (-torch.arange(0, head_size, 2).float() / head_size)
        angle = torch.outer(torch.arange(tokens).float(), frequency)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def rotate(self, x):
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * self.cos - second * self.sin, second * self.cos + first * self.sin), dim=-1)

    def forward(self, query, key):
        return self.rotate(query), self.rotate(key)


def get_inputs():
    shape = (BATCH, HEADS, TOKENS, HEAD_SIZE)
    return [torch.randn(shape), torch.randn(shape)]


def get_init_inputs():
    return [TOKENS, HEAD_SIZE]
