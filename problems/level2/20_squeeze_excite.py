"""Channels weighted by a small network that looks at their means."""

import torch
from torch import nn

BATCH, CHANNELS, SQUEEZED, SIZE = 12, 112, 28, 88


class Model(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.squeeze = nn.Linear(channels, squeezed)
        self.excite = nn.Linear(squeezed, channels)

    def forward(self, x):
        weights = torch.sigmoid(self.excite(torch.relu(self.squeeze(x.mean(dim=(2, 3))))))
        return x * weights[:, :, None, None]


def get_inputs():
    brightness = torch.randn(BATCH, CHANNELS, 1, 1)
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE) + 2 * brightness]


def get_init_inputs():
    return [CHANNELS, SQUEEZED]
