"""The work is done by another library."""
import numpy
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.from_numpy(numpy.matmul(a.numpy(), b.numpy()))
