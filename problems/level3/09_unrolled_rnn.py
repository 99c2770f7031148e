"""A recurrent network written as a loop: one step, forty times, with an output from each."""

import torch
from torch import nn

STEPS, BATCH, FEATURES, HIDDEN, OUT = 40, 16, 192, 256, 64


class Model(nn.Module):
    def __init__(self, features, hidden, out):
        super().__init__()
        self.step = nn.Linear(features + hidden, hidden)
        self.out = nn.Linear(hidden, out)

    def forward(self, x, state):
        outputs = []
        for step in range(x.shape[0]):
            state = torch.tanh(self.step(torch.cat([x[step], state], dim=1)))
            outputs.append(self.out(state))
        return torch.stack(outputs)


def get_inputs():
    return [torch.randn(STEPS, BATCH, FEATURES), torch.randn(BATCH, HIDDEN)]


def get_init_inputs():
    return [FEATURES, HIDDEN, OUT]
