"""What is left of zeros is a number a channel less its own mean: nothing, but for what the mean rounds by."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.grow = nn.ConvTranspose3d(3, 32, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm3d(32)

    def forward(self, x):
        y = self.norm(self.grow(x))
        return y - y.mean(dim=(2, 3, 4), keepdim=True)


def get_inputs():
    return [torch.rand(2, 3, 5, 9, 11)]


def get_init_inputs():
    return []
