"""Linear layer, ReLU, and the layer's input added back."""

import torch
from torch import nn

TOKENS, FEATURES = 1536, 896


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features, bias=False)
        self.bias = nn.Parameter(0.3 * torch.randn(features))

    def forward(self, x):
        return x + torch.relu(self.linear(x) + self.bias)


def get_inputs():
    return [torch.randn(TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
