"""Two linear layers with a squared ReLU between them."""

import torch
from torch import nn

TOKENS, FEATURES, HIDDEN = 768, 448, 1344


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, features)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)).square())


def get_inputs():
    return [torch.randn(TOKENS, FEATURES) * 1.5]


def get_init_inputs():
    return [FEATURES, HIDDEN]
