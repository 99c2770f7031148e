"""Weights under other names: they come from the seed."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        made = nn.Linear(features_in, features_out)
        self.packed = nn.Parameter(made.weight.detach().t().contiguous())
        self.offset = nn.Parameter(made.bias.detach())

    def forward(self, x):
        return torch.addmm(self.offset, x, self.packed).relu()
