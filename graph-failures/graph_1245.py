import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.m0 = nn.Linear(2, 16, bias=True)

    def forward(self, x0):
        t0 = F.gelu(x0, approximate='tanh')
        t1 = t0.chunk(2, 0)[0]
        t2 = t1.flip(0)
        t3 = t2.expand(3, *t2.shape)
        t4 = self.m0(t3)
        t5 = F.gelu(t4)
        return t5, t3


def get_inputs():
    return [torch.randn([4])]


def get_init_inputs():
    return []
