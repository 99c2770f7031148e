"""What comes before each element, summed along rows and down columns."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, COLUMNS = 48, 201


class Model(nn.Module):
    def forward(self, x):
        along = F.pad(x.cumsum(dim=1)[:, :-1], (1, 0))
        down = torch.cat([torch.zeros(1, COLUMNS), x.cumsum(dim=0)[:-1]])
        return along, down * 2


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
