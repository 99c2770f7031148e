"""Product of two bfloat16 tensors."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x * y


def get_inputs():
    return [torch.randn(10007).bfloat16(), torch.randn(10007).bfloat16()]


def get_init_inputs():
    return []
