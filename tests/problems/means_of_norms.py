"""Sums and means of normalised rows: they are zero but for weights, and what is left of an imprecise mean would show."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 16, 3)
        self.groups = nn.GroupNorm(4, 16)
        self.instances = nn.InstanceNorm3d(16, affine=True)
        self.rows = nn.LayerNorm(512, elementwise_affine=False)
        self.weighted = nn.LayerNorm(64)

    def forward(self, x, y):
        x = self.conv(x)
        groups = self.groups(x)
        rows = self.rows(y)
        centred = y - y.mean(dim=1, keepdim=True)
        return (groups.mean(dim=[1, 2, 3, 4]), groups.sum(dim=(2, 3, 4)) / 64, F.adaptive_avg_pool3d(self.instances(x) * 2 - 1, 1),
                rows.mean(dim=-1, keepdim=True), 1 - (rows / 3).mean(), centred.mean(dim=(0, 1)), self.weighted(y[:, :64]).mean(dim=1))


def get_inputs():
    return [torch.randn(16, 3, 8, 16, 16), torch.randn(24, 512)]


def get_init_inputs():
    return []
