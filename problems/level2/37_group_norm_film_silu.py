"""Group normalisation, scale and shift by a conditioning vector, SiLU."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, CHANNELS, GROUPS, SIZE = 12, 96, 12, 92


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels, affine=False)

    def forward(self, x, scale, shift):
        y = self.norm(x) * (1 + scale[:, :, None, None]) + shift[:, :, None, None]
        return F.silu(y)


def get_inputs():
    x = torch.randn(BATCH, CHANNELS, SIZE, SIZE) * 1.5 + 0.25
    return [x, 0.4 * torch.randn(BATCH, CHANNELS), 0.4 * torch.randn(BATCH, CHANNELS)]


def get_init_inputs():
    return [CHANNELS, GROUPS]
