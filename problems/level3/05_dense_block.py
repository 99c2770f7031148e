"""A dense block: every layer reads all earlier ones, joined along the channels; then a transition."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, CHANNELS, SIZE, GROWTH, LAYERS = 2, 64, 28, 32, 6


def varied(norm):
    """Scales, shifts and statistics that are not ones and zeros."""
    nn.init.normal_(norm.weight, mean=1.0, std=0.1)
    nn.init.normal_(norm.bias, std=0.1)
    nn.init.normal_(norm.running_mean, std=0.1)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class Model(nn.Module):
    def __init__(self, channels, growth, layers):
        super().__init__()
        widths = [channels + growth * i for i in range(layers)]
        self.norms = nn.ModuleList(varied(nn.BatchNorm2d(width)) for width in widths)
        self.layers = nn.ModuleList(nn.Conv2d(width, growth, kernel_size=3, padding=1, bias=False) for width in widths)
        last = channels + growth * layers
        self.norm = varied(nn.BatchNorm2d(last))
        self.transition = nn.Conv2d(last, last // 2, kernel_size=1, bias=False)

    def forward(self, x):
        features = [x]
        for norm, layer in zip(self.norms, self.layers):
            features.append(layer(torch.relu(norm(torch.cat(features, dim=1)))))
        x = torch.relu(self.norm(torch.cat(features, dim=1)))
        return F.avg_pool2d(self.transition(x), kernel_size=2)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, GROWTH, LAYERS]
