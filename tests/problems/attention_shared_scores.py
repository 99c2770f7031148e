"""Scores that two softmaxes read, and weights that are a result themselves: neither can be attention of one stage."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(1, 2)
        weights = torch.softmax(scores, dim=-1)
        future = torch.triu(torch.ones(40, 40, dtype=torch.bool), diagonal=1)
        return weights @ v, weights, torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ v


def get_inputs():
    return [torch.randn(2, 40, 24), torch.randn(2, 40, 24), torch.randn(2, 40, 16)]


def get_init_inputs():
    return []
