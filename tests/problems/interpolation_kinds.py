"""Images and lines made larger and smaller, by every mode, with corners aligned or not, by size or by factor."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)

    def forward(self, x, line, volume):
        return (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(7, 20)), F.interpolate(x, scale_factor=1.7, mode="nearest-exact"),
                F.interpolate(x, scale_factor=2, mode="bilinear"), F.interpolate(x, size=(5, 31), mode="bilinear", align_corners=True), self.up(x),
                F.interpolate(x, scale_factor=(1.5, 0.7), mode="bilinear"), F.interpolate(x, scale_factor=2, mode="bicubic"),
                F.interpolate(x, size=(9, 13), mode="bicubic", align_corners=True), F.interpolate(line, scale_factor=3, mode="linear"), F.interpolate(line, scale_factor=3),
                F.interpolate(volume, scale_factor=2, mode="trilinear"), F.interpolate(volume, size=(3, 9, 4)))


def get_inputs():
    return [torch.randn(2, 3, 11, 17), torch.randn(2, 3, 19), torch.randn(1, 2, 4, 5, 6)]


def get_init_inputs():
    return []
