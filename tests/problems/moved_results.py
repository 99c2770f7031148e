"""Results that only move on their way into an output: channels shuffled, dimensions in another order, by whole rows or not; and the same where something else
reads them too."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(12, 24, 1, groups=3)
        self.windowed = nn.Conv2d(12, 8, 3, padding=1)
        self.line = nn.Conv1d(11, 6, 5)

    def forward(self, x, y):
        shuffled = torch.relu(self.grouped(x)).unflatten(1, (3, 8)).transpose(1, 2).flatten(1, 2)
        images = self.windowed(x)
        moved = torch.tanh(self.windowed(x + 1)).permute(1, 0, 2, 3)
        last = self.windowed(x * 2).permute(0, 2, 3, 1)
        turned = self.line(y).sigmoid().transpose(0, 1)
        pixels = torch.pixel_shuffle(self.windowed(x - 1), 2)
        apart = self.grouped(x + 2).unflatten(1, (2, 12)).permute(0, 2, 3, 4, 1)
        return pixels, apart, shuffled, images, images.transpose(0, 1), moved, last, turned, turned.sum(2)


def get_inputs():
    return [torch.randn(3, 12, 19, 21), torch.randn(4, 11, 53)]


def get_init_inputs():
    return []
