"""Sums and means of what linear maps give: over features, windows of features, pixels with and without padding, some dimensions."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(37, 48)
        self.down = nn.Conv2d(5, 6, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(5, 7, 3, stride=2, padding=1, output_padding=1)
        self.cube = nn.ConvTranspose3d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(7)
        self.pooled = nn.ConvTranspose2d(5, 7, 3, stride=2, padding=1)
        self.plain = nn.Conv2d(5, 3, 3, dilation=2, bias=False)
        nn.init.normal_(self.norm.running_mean, std=0.3)
        nn.init.uniform_(self.norm.running_var, 0.4, 1.6)

    def forward(self, x, image, volume):
        y = self.linear(x) / 2
        windows = F.gelu(F.avg_pool1d(self.linear(x).unsqueeze(1), 5, 4)).squeeze(1)
        down = torch.logsumexp((self.down(image) * 3 - 1).mean(dim=(2, 3), keepdim=True), dim=1)
        up = self.norm(self.up(image) * 0.5).mean([2, 3], keepdim=True).mean([2, 3])
        depth = torch.softmax(self.cube(volume).mean(dim=2, keepdim=True), dim=1)
        rows = self.plain(image).sum(3)
        twice = F.avg_pool2d(F.avg_pool2d(self.norm(self.pooled(image)), 2), 3, 2)
        channels = torch.tanh(self.plain(image).sum(1))
        return y.sum(dim=1, keepdim=True) * 1.5, windows, down, up, depth, rows, twice, channels


def get_inputs():
    return [torch.randn(19, 37), torch.randn(2, 5, 13, 14), torch.randn(2, 3, 5, 7, 9)]


def get_init_inputs():
    return []
