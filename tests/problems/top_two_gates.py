"""Weights of the two best of each row in their places, zeros elsewhere: what a mixture of experts is gated by."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        kept, places = torch.topk(x, 2, dim=1)
        return torch.zeros_like(x).scatter(1, places, torch.softmax(kept, dim=1))


def get_inputs():
    return [torch.randn(200, 16)]


def get_init_inputs():
    return []
