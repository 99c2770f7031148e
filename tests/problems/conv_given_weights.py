"""Weights that come with each call, an image without a batch, an input that is turned round."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, weight):
        return F.conv2d(x.transpose(1, 2), weight, padding=1)


def get_inputs():
    return [torch.randn(5, 34, 21), torch.randn(8, 5, 3, 3)]


def get_init_inputs():
    return []
