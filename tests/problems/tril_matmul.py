"""The product of two lower triangular matrices."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a @ b)


def get_inputs():
    return [torch.tril(torch.randn(160, 160)), torch.tril(torch.randn(160, 160))]


def get_init_inputs():
    return []
