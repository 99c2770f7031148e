"""The inverse of a matrix: the playbook does not know it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(x)


def get_inputs():
    return [torch.randn(8, 8) + 8 * torch.eye(8)]


def get_init_inputs():
    return []
