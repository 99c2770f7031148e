"""Takes memory without an end."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        held = []
        while True:
            held.append(torch.ones(1 << 28))
