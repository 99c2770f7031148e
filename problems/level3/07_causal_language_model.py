"""A small causal language model: embeddings, two equal blocks with masked attention written out, logits."""

import math

import torch
from torch import nn

BATCH, TOKENS, FEATURES, HEADS, LAYERS, WORDS = 2, 128, 192, 6, 2, 1000


class Block(nn.Module):
    def __init__(self, tokens, features, heads):
        super().__init__()
        self.heads = heads
        self.first_norm = nn.LayerNorm(features)
        self.qkv = nn.Linear(features, 3 * features)
        self.out = nn.Linear(features, features)
        self.second_norm = nn.LayerNorm(features)
        self.widen = nn.Linear(features, 4 * features)
        self.narrow = nn.Linear(4 * features, features)
        self.register_buffer("hidden", torch.ones(tokens, tokens, dtype=torch.bool).triu(1))

    def forward(self, x):
        batch, tokens, features = x.shape
        split = (batch, tokens, self.heads, features // self.heads)
        query, key, value = (part.view(split).transpose(1, 2) for part in self.qkv(self.first_norm(x)).chunk(3, dim=-1))
        scores = query @ key.transpose(2, 3) / math.sqrt(features // self.heads)
        weights = torch.softmax(scores.masked_fill(self.hidden, float("-inf")), dim=-1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, tokens, features))
        y = self.widen(self.second_norm(x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * y**3)))
        return x + self.narrow(y)


class Model(nn.Module):
    def __init__(self, words, tokens, features, heads, layers):
        super().__init__()
        self.words = nn.Embedding(words, features)
        self.places = nn.Parameter(torch.randn(tokens, features) * 0.5)
        self.blocks = nn.ModuleList(Block(tokens, features, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(features)
        self.head = nn.Linear(features, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def get_inputs():
    return [torch.randint(0, WORDS, (BATCH, TOKENS))]


def get_init_inputs():
    return [WORDS, TOKENS, FEATURES, HEADS, LAYERS]
