"""One projection split into queries, keys and values, laid out by head."""

import torch
from torch import nn

BATCH, TOKENS, FEATURES, HEADS = 4, 384, 640, 10


class Model(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(features, 3 * features)

    def forward(self, x):
        batch, tokens, features = x.shape
        qkv = self.projection(x).view(batch, tokens, 3, self.heads, features // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).contiguous().unbind(0)
        return query, key, value


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES, HEADS]
