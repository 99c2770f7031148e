"""Cosine embedding loss of pairs that should match or differ."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, FEATURES = 14336, 640


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, left, right, labels):
        return F.cosine_embedding_loss(left, right, labels, margin=self.margin)


def get_inputs():
    left = torch.randn(ROWS, FEATURES)
    likeness = 0.3 + torch.rand(1)
    right = likeness * left + torch.randn(ROWS, FEATURES)
    labels = torch.where(torch.rand(ROWS) < 0.8, 1, -1)
    return [left, right, labels]


def get_init_inputs():
    return [0.1]
