"""Scale and bias under other names, in another order, made as ones and zeros."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.beta = nn.Parameter(torch.zeros(features))
        self.gamma = nn.Parameter(torch.empty(features))
        nn.init.constant_(self.gamma, 1.0)

    def forward(self, x):
        return nn.functional.layer_norm(x, self.gamma.shape, self.gamma, self.beta)
