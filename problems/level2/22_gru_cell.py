"""One step of a gated recurrent unit."""

import torch
from torch import nn

BATCH, FEATURES, HIDDEN = 768, 384, 512


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.from_input = nn.Linear(features, 3 * hidden)
        self.from_hidden = nn.Linear(hidden, 3 * hidden)

    def forward(self, x, hidden):
        input_reset, input_update, input_new = self.from_input(x).chunk(3, dim=1)
        hidden_reset, hidden_update, hidden_new = self.from_hidden(hidden).chunk(3, dim=1)
        reset = torch.sigmoid(input_reset + hidden_reset)
        update = torch.sigmoid(input_update + hidden_update)
        new = torch.tanh(input_new + reset * hidden_new)
        return new + update * (hidden - new)


def get_inputs():
    return [torch.randn(BATCH, FEATURES) * 2, torch.randn(BATCH, HIDDEN)]


def get_init_inputs():
    return [FEATURES, HIDDEN]
