"""Classifier head: linear layer, dropout (idle at inference) and softmax."""

import torch
from torch import nn

BATCH, FEATURES, CLASSES = 2048, 512, 1000


class Model(nn.Module):
    def __init__(self, features, classes, dropout):
        super().__init__()
        self.linear = nn.Linear(features, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return torch.softmax(self.dropout(self.linear(x)), dim=1)


def get_inputs():
    return [torch.randn(BATCH, FEATURES) * 4]


def get_init_inputs():
    return [FEATURES, CLASSES, 0.3]
