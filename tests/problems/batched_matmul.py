"""A batch of small products."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(8, 64, 96), torch.randn(8, 96, 48)]


def get_init_inputs():
    return []
