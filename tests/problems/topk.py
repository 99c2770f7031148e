"""The five largest of each row and their places: two outputs."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.topk(x, 5, dim=1)


def get_inputs():
    return [torch.randn(64, 300)]


def get_init_inputs():
    return []
