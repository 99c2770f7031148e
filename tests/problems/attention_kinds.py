"""Attention in the forms it is given: causal, with masks of both kinds, of grouped heads, with its own scale, written out, and of odd sizes."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("past", torch.tril(torch.ones(45, 45)).view(1, 1, 45, 45))

    def forward(self, q, k, v, seen, bias):
        causal = F.scaled_dot_product_attention(q[0], k, v, is_causal=True)
        masked = F.scaled_dot_product_attention(q[1], k, v, attn_mask=seen, scale=0.3)
        biased = F.scaled_dot_product_attention(q[2], k, v, attn_mask=bias)
        grouped = F.scaled_dot_product_attention(q[3], k[:, :2], v[:, :2], is_causal=True, enable_gqa=True)
        scores = (q[4] @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        by_buffer = F.softmax(scores.masked_fill(self.past == 0, float("-inf")), dim=-1) @ v
        future = torch.triu(torch.ones(45, 45, dtype=torch.bool), diagonal=1)
        by_position = torch.softmax(torch.einsum("bhid,bhjd->bhij", q[5], k).masked_fill(future, float("-inf")), -1)
        crossed = F.scaled_dot_product_attention(q[6, :, :, :11], k, v)
        return (causal, masked, biased, grouped, torch.tanh(by_buffer), torch.einsum("bhij,bhjd->bhid", by_position, v).transpose(1, 2), crossed)


def get_inputs():
    seen = torch.rand(45, 45) > 0.3
    seen[7] = False
    return [torch.randn(7, 2, 4, 45, 19), torch.randn(2, 4, 45, 19), torch.randn(2, 4, 45, 21), seen, torch.randn(2, 1, 45, 45)]


def get_init_inputs():
    return []
