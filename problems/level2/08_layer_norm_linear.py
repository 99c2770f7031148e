"""Layer normalisation and the linear layer that reads it."""

import torch
from torch import nn

TOKENS, FEATURES, OUT_FEATURES = 2048, 768, 640


class Model(nn.Module):
    def __init__(self, features, out_features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.linear = nn.Linear(features, out_features)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x):
        return self.linear(self.norm(x))


def get_inputs():
    return [torch.randn(TOKENS, FEATURES) * 1.5 + 0.25]


def get_init_inputs():
    return [FEATURES, OUT_FEATURES]
