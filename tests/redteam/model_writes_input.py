"""Works in place, on an input."""
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.relu_().mul_(2.5)
