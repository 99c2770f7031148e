"""Layer normalisation over the features of each token."""

import torch
from torch import nn

BATCH, TOKENS, FEATURES = 16, 768, 960


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES) * 2 + 0.5]


def get_init_inputs():
    return [FEATURES]
