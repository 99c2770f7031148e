"""Rows of a table looked up by token."""

import torch
from torch import nn

VOCABULARY, FEATURES = 24000, 384
BATCH, TOKENS = 48, 640


class Model(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.table = nn.Embedding(vocabulary, features)

    def forward(self, tokens):
        return self.table(tokens)


def get_inputs():
    return [torch.randint(0, VOCABULARY, (BATCH, TOKENS))]


def get_init_inputs():
    return [VOCABULARY, FEATURES]
