"""Attention over several blocks of keys and parts of queries, causal and not, with scores that are longer sums than one block's."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q[0], k, v, is_causal=True), F.scaled_dot_product_attention(q[1], k, v)


def get_inputs():
    return [torch.randn(2, 1, 2, 391, 272), torch.randn(1, 2, 391, 272), torch.randn(1, 2, 391, 48)]


def get_init_inputs():
    return []
