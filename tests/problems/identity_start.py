"""A product with weights that begin as an identity, whatever the seed is."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mix = nn.Parameter(torch.eye(features))

    def forward(self, x):
        return torch.relu(x @ self.mix)


def get_inputs():
    return [torch.randn(32, 48)]


def get_init_inputs():
    return [48]
