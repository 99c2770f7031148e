import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.m0 = nn.Conv2d(2, 8, (3, 3), stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=1, bias=True)
        self.m1 = nn.Linear(3, 1, bias=False)

    def forward(self, x0):
        t0 = self.m0(x0)
        t1 = t0.var(0, unbiased=False, keepdim=False)
        t2 = t0 - t1
        t3 = torch.linalg.vector_norm(t2, dim=(2, 0), keepdim=False)
        t4 = self.m1(t3)
        t5 = F.gelu(t2)
        return t5


def get_inputs():
    return [torch.randn([33, 2, 8, 3])]


def get_init_inputs():
    return []
