"""Two inputs, two outputs."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x + y, x - y


def get_inputs():
    return [torch.randn(100, 130), torch.randn(100, 130)]


def get_init_inputs():
    return []
