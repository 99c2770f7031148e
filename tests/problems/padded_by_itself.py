"""Padding with elements of the tensor itself, by all three modes; elements picked behind a colon; norms and shrinking by other names."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mirror = nn.ReflectionPad2d((2, 1, 0, 3))
        self.conv = nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular")

    def forward(self, x, picks, rows, columns, channels):
        mirrored = self.mirror(x)
        edges = F.pad(x, (4, 2, 1, 5), mode="replicate")
        around = F.pad(x, (3, 0, 2, 9), mode="circular")
        picked = x[:, :, rows, columns] + x[..., picks].sum(dim=2)
        norms = torch.linalg.norm(x, dim=3) * torch.linalg.norm(x) + torch.linalg.norm(x, ord=1, dim=-1)
        return mirrored, edges * 2, around, self.conv(x), picked, x[:, channels], norms, F.hardshrink(x, 0.7) + F.softshrink(x, 0.4)


def get_inputs():
    x = torch.randn(2, 3, 11, 13)
    return [x, torch.randint(0, 13, (5,)), torch.randint(-11, 11, (5,)), torch.randint(-13, 13, (5,)), torch.randint(-3, 3, (2, 4))]


def get_init_inputs():
    return []
