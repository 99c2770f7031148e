"""Tensors that forward() makes and then writes into: slices, single positions, all of them."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        shifted = torch.zeros_like(x)
        shifted[:, 1:] = x[:, :-1].cumsum(1)
        shifted[2] = y
        shifted[-1, 3:5] += 1
        shifted[:, -2] *= x[:, 0]
        whole = torch.zeros_like(x)
        whole.copy_(y * 2)
        return shifted, whole


def get_inputs():
    return [torch.randn(5, 37), torch.randn(37)]


def get_init_inputs():
    return []
