"""Scales and shifts of features behind linear maps, some of which others read as they are."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(40, 33)
        self.scale = nn.Parameter(torch.rand(33) + 0.5)
        self.norm = nn.BatchNorm1d(33)
        self.pixels = nn.Conv2d(6, 9, 1)
        self.factor = nn.Parameter(torch.rand(9, 1, 1) + 0.5)
        self.grouped = nn.Conv2d(6, 8, 3, padding=1, groups=2)
        self.norm2d = nn.BatchNorm2d(8)
        self.term = nn.Parameter(torch.rand(33))
        nn.init.normal_(self.norm.running_mean, std=0.3)
        nn.init.uniform_(self.norm.running_var, 0.4, 1.6)

    def forward(self, x, image):
        y = self.norm(self.linear(x) * self.scale)
        pixels = torch.relu(2 - self.pixels(image) * self.factor)
        grouped = torch.sigmoid(-self.norm2d(self.grouped(image)))
        two = self.linear(x)
        both = torch.tanh(two * 0.5 + 1) + two
        again = torch.relu(two + two * 0.25 - self.term)
        return y, pixels, grouped, both, again, self.term + self.scale


def get_inputs():
    return [torch.randn(21, 40), torch.randn(3, 6, 10, 11)]


def get_init_inputs():
    return []
