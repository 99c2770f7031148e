"""Cross entropy of logits with int64 class targets."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, logits, target):
        return F.cross_entropy(logits, target)


def get_inputs():
    return [torch.randn(256, 100), torch.randint(0, 100, (256,))]


def get_init_inputs():
    return []
