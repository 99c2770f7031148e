"""Token and position embeddings summed and layer-normalised: a language model's first step."""

import torch
from torch import nn

VOCABULARY, FEATURES = 16000, 448
BATCH, TOKENS = 40, 512


class Model(nn.Module):
    def __init__(self, vocabulary, tokens, features):
        super().__init__()
        self.token = nn.Embedding(vocabulary, features)
        self.position = nn.Parameter(0.5 * torch.randn(tokens, features))
        self.norm = nn.LayerNorm(features)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, tokens):
        return self.norm(self.token(tokens) + self.position)


def get_inputs():
    return [torch.randint(0, VOCABULARY, (BATCH, TOKENS))]


def get_init_inputs():
    return [VOCABULARY, TOKENS, FEATURES]
