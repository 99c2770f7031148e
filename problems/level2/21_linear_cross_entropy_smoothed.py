"""Classifier and its cross entropy with smoothed labels."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, FEATURES, CLASSES, SMOOTHING = 1536, 384, 2000, 0.1


class Model(nn.Module):
    def __init__(self, features, classes, smoothing):
        super().__init__()
        self.linear = nn.Linear(features, classes)
        self.smoothing = smoothing

    def forward(self, x, labels):
        return F.cross_entropy(self.linear(x), labels, label_smoothing=self.smoothing)


def get_inputs():
    spread = 2 + 3 * torch.rand(1)
    return [torch.randn(BATCH, FEATURES) * spread, torch.randint(0, CLASSES, (BATCH,))]


def get_init_inputs():
    return [FEATURES, CLASSES, SMOOTHING]
