"""Running statistics, scale and bias fused to one scale and one shift when the module is built."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        norm = nn.BatchNorm2d(channels).eval()
        scale = norm.weight.detach() * torch.rsqrt(norm.running_var + norm.eps)
        self.register_buffer("scale", scale.view(1, -1, 1, 1).contiguous())
        self.register_buffer("shift", (norm.bias.detach() - norm.running_mean * scale).view(1, -1, 1, 1))

    def forward(self, x):
        return x * self.scale + self.shift
