"""Images whose channels are innermost in memory, through what hands that format on: a convolution, batch norm, pooling, pointwise work."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 10, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return torch.relu(self.conv(x)), self.norm(x), self.pool(x), torch.sigmoid(x) * 2.0, x.mean((2, 3))


def get_inputs():
    return [torch.randn(3, 6, 12, 18).to(memory_format=torch.channels_last)]


def get_init_inputs():
    return []
