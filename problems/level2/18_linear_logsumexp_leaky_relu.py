"""Linear layer, log-sum-exp over groups of its outputs, shift and leaky ReLU."""

import math

import torch
import torch.nn.functional as F
from torch import nn

BATCH, FEATURES, GROUPS, GROUP_SIZE = 1536, 640, 64, 16


class Model(nn.Module):
    def __init__(self, features, groups, group_size):
        super().__init__()
        self.linear = nn.Linear(features, groups * group_size)
        self.shift = nn.Parameter(torch.full((groups,), math.log(group_size) + 1))
        self.groups = groups

    def forward(self, x):
        energy = torch.logsumexp(self.linear(x).unflatten(1, (self.groups, -1)), dim=-1)
        return F.leaky_relu(energy - self.shift, negative_slope=0.1)


def get_inputs():
    return [torch.randn(BATCH, FEATURES) * 3]


def get_init_inputs():
    return [FEATURES, GROUPS, GROUP_SIZE]
