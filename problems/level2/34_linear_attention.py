"""Attention without softmax: a positive feature map, then the key-value summary of each head."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, HEADS, TOKENS, HEAD_SIZE = 4, 8, 1152, 64


class Model(nn.Module):
    def forward(self, query, key, value):
        query = F.elu(query) + 1
        key = F.elu(key) + 1
        summary = torch.einsum("bhtd,bhte->bhde", key, value)
        weight = torch.einsum("bhtd,bhd->bht", query, key.sum(dim=2))
        return torch.einsum("bhtd,bhde->bhte", query, summary) / weight[..., None]


def get_inputs():
    shape = (BATCH, HEADS, TOKENS, HEAD_SIZE)
    return [torch.randn(shape), torch.randn(shape), torch.randn(shape)]


def get_init_inputs():
    return []
