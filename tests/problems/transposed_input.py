"""An input that arrives with transposed strides."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * 2.0 + 1.0


def get_inputs():
    return [torch.randn(96, 161).t()]


def get_init_inputs():
    return []
