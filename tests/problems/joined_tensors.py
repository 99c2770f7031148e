"""Concatenations that are read where they are used: behind a norm and before a convolution, of many operands and of different ones, along rows and columns,
in pieces of memory and of values that are computed."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(20)
        self.conv = nn.Conv2d(20, 6, 3, padding=1)
        self.mix = nn.Linear(33, 12)

    def forward(self, x, y, z, v, w):
        many = torch.cat([x, y, z, y, x[:, 1:3]], dim=1)
        below = torch.cat([x[:, :3], y[:, :3, :5].transpose(1, 2).reshape(3, 3, 5, 19)], dim=2)
        row = torch.cat([v, w], dim=1)
        return self.conv(F.relu(self.norm(many))), F.gelu(below).mean(-1), self.mix(row), torch.cat([v, torch.relu(w)], dim=1).cumsum(1)


def get_inputs():
    return [torch.randn(3, 4, 11, 19), torch.randn(3, 5, 11, 19), torch.randn(3, 4, 11, 19), torch.randn(7, 16), torch.randn(7, 17)]


def get_init_inputs():
    return []
