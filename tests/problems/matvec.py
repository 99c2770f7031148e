"""A matrix times a vector."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, v):
        return a @ v


def get_inputs():
    return [torch.randn(512, 771), torch.randn(771)]


def get_init_inputs():
    return []
