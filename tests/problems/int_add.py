"""Sum of two int32 tensors."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x + y


def get_inputs():
    return [
        torch.randint(-1000, 1000, (9001,), dtype=torch.int32),
        torch.randint(-1000, 1000, (9001,), dtype=torch.int32),
    ]


def get_init_inputs():
    return []
