"""Max pooling with padding and odd sizes."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, 3, stride=2, padding=1)


def get_inputs():
    return [torch.randn(2, 8, 33, 33)]


def get_init_inputs():
    return []
