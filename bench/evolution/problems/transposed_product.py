"""A product of a transposed matrix."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a.t() @ b


def get_inputs():
    return [torch.randn(384, 320), torch.randn(384, 448)]


def get_init_inputs():
    return []
