"""The product is an operator sign and no call."""
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return a @ b
