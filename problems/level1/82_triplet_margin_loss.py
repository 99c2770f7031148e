"""Triplet loss: the anchor should be nearer to the positive than to the negative."""

import torch
from torch import nn

ROWS, FEATURES = 14336, 448


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.loss = nn.TripletMarginLoss(margin=margin)

    def forward(self, anchor, positive, negative):
        return self.loss(anchor, positive, negative)


def get_inputs():
    anchor = torch.randn(ROWS, FEATURES)
    distance = 0.8 + 0.4 * torch.rand(1)
    positive = anchor + distance * torch.randn(ROWS, FEATURES)
    negative = anchor + torch.randn(ROWS, FEATURES)
    return [anchor, positive, negative]


def get_init_inputs():
    return [1.0]
