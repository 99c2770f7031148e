"""Similarities of two sets of embeddings: unit length, product, learned temperature."""

import math

import torch
import torch.nn.functional as F
from torch import nn

IMAGES, TEXTS, FEATURES = 1280, 1408, 512


class Model(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(-math.log(temperature)))

    def forward(self, images, texts):
        similarity = F.normalize(images, dim=1) @ F.normalize(texts, dim=1).t()
        return similarity * self.log_scale.exp()


def get_inputs():
    return [torch.randn(IMAGES, FEATURES), torch.randn(TEXTS, FEATURES)]


def get_init_inputs():
    return [0.07]
