"""A stack of four equal transformer encoder layers, normalisation first."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, FEATURES, HEADS, LAYERS = 2, 128, 256, 8, 4


class Layer(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.first_norm = nn.LayerNorm(features)
        self.qkv = nn.Linear(features, 3 * features)
        self.out = nn.Linear(features, features)
        self.second_norm = nn.LayerNorm(features)
        self.widen = nn.Linear(features, 4 * features)
        self.narrow = nn.Linear(4 * features, features)
        for norm in (self.first_norm, self.second_norm):
            nn.init.normal_(norm.weight, mean=1.0, std=0.1)
            nn.init.normal_(norm.bias, std=0.1)

    def forward(self, x):
        batch, tokens, features = x.shape
        split = (batch, tokens, self.heads, features // self.heads)
        query, key, value = (part.view(split).transpose(1, 2) for part in self.qkv(self.first_norm(x)).chunk(3, dim=-1))
        mixed = F.scaled_dot_product_attention(query, key, value)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, features))
        return x + self.narrow(F.gelu(self.widen(self.second_norm(x))))


class Model(nn.Module):
    def __init__(self, features, heads, layers):
        super().__init__()
        self.layers = nn.ModuleList(Layer(features, heads) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES, HEADS, LAYERS]
