"""Whole recurrent layers: several of them, both directions, batch first or not, with and without biases."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(9, 21, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(42, 19, num_layers=2)
        self.plain = nn.RNN(19, 40, bias=False)
        self.relu = nn.RNN(40, 5, nonlinearity="relu", bidirectional=True)

    def forward(self, x, h, c):
        y, (hidden, cell) = self.lstm(x, (h, c))
        z, last = self.gru(y.transpose(0, 1))
        w, _ = self.plain(z)
        return hidden, cell, last, self.relu(w)[0]


def get_inputs():
    return [torch.randn(7, 6, 9), torch.randn(4, 7, 21), torch.randn(4, 7, 21)]


def get_init_inputs():
    return []
