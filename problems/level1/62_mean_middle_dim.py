"""Mean over the middle dimension of a batch of sequences."""

import torch
from torch import nn

BATCH, TOKENS, FEATURES = 32, 640, 1024


class Model(nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES)]


def get_init_inputs():
    return []
