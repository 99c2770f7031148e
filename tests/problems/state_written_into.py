"""A step of a recurrent net whose state is an attribute that forward() writes into."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inputs, units, outputs):
        super().__init__()
        self.state = torch.zeros(6, units)
        self.both = nn.Linear(inputs + units, units)
        self.out = nn.Linear(units, outputs)

    def forward(self, x, first):
        self.state.copy_(first)
        self.state = torch.tanh(self.both(torch.cat((x, self.state), dim=1)))
        return self.out(self.state)


def get_inputs():
    return [torch.randn(6, 30), torch.randn(6, 20)]


def get_init_inputs():
    return [30, 20, 10]
