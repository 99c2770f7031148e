"""Causal self-attention with its projections, written out."""

import math

import torch
from torch import nn

BATCH, TOKENS, FEATURES, HEADS = 2, 320, 384, 6


class Model(nn.Module):
    def __init__(self, features, heads, tokens):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(features, 3 * features)
        self.out = nn.Linear(features, features)
        self.register_buffer("hidden", torch.ones(tokens, tokens, dtype=torch.bool).triu(1))

    def forward(self, x):
        batch, tokens, features = x.shape
        head_size = features // self.heads
        split = (batch, tokens, self.heads, head_size)
        query, key, value = (part.view(split).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        scores = query @ key.transpose(2, 3) / math.sqrt(head_size)
        weights = torch.softmax(scores.masked_fill(self.hidden, float("-inf")), dim=-1)
        return self.out((weights @ value).transpose(1, 2).reshape(batch, tokens, features))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES) * 3]


def get_init_inputs():
    return [FEATURES, HEADS, TOKENS]
