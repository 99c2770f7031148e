"""Padding on one side more than on the other, groups, a stride past the window."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.same = nn.Conv1d(6, 7, 4, dilation=3, padding="same")
        self.grouped = nn.Conv1d(6, 10, 3, stride=2, padding=2, groups=2, bias=False)
        self.sparse = nn.Conv1d(6, 1, 2, stride=5)

    def forward(self, x):
        return self.same(x), self.grouped(x), self.sparse(x)


def get_inputs():
    return [torch.randn(3, 6, 61)]


def get_init_inputs():
    return []
