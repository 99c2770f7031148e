"""Large depthwise convolution, layer normalisation over channels, linear layer, GELU."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, CHANNELS, HIDDEN, SIZE = 6, 80, 256, 52


class Model(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, kernel_size=7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.linear = nn.Linear(channels, hidden)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return F.gelu(self.linear(y))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, HIDDEN]
