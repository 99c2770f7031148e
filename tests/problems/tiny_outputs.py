"""Values around 1e-6, where an absolute tolerance sees nothing."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sin(x) * 1e-6


def get_inputs():
    return [torch.randn(64, 300)]


def get_init_inputs():
    return []
