"""Products with long sums, which are computed in parts: what is between the parts is kept in the output where its rows have room for whole vectors, and
elsewhere where they have not; alone, with an epilogue, in batches, and with a second reader."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.whole = nn.Linear(515, 64)
        self.odd = nn.Linear(515, 37)

    def forward(self, x, y, z):
        product = torch.matmul(y, z)
        return torch.matmul(x, y[0, :515]), torch.relu(self.whole(x)) * 2 - 1, self.odd(x), product, torch.matmul(y, z).view(3, 26, 20, 48).tanh(), torch.matmul(x.half().float(), y[1, :515]).half()


def get_inputs():
    return [torch.randn(37, 515) * 0.1, torch.randn(3, 520, 520) * 0.1, torch.randn(3, 520, 48) * 0.1]


def get_init_inputs():
    return []
