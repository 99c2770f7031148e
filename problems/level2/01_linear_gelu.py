"""Linear layer and GELU: the first half of a transformer's MLP."""

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, FEATURES, HIDDEN = 1024, 640, 1536


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(TOKENS, FEATURES) * 2]


def get_init_inputs():
    return [FEATURES, HIDDEN]
