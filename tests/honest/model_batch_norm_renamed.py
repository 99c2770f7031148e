"""Running statistics, scale and bias under other names, made by hand."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("average", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))
        self.offset = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x):
        centred = x - self.average.view(-1, 1, 1)
        return centred * torch.rsqrt(self.variance.view(-1, 1, 1) + 1e-5) * self.scale + self.offset
