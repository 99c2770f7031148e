"""Einsum with dimensions that have no letters: before, between and behind the others, in one operand or in both, kept and summed up."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, z):
        return (torch.einsum("...ij,jk->...ik", x, y), torch.einsum("a...j,...j->a...", x, z), torch.einsum("...i,...i", x, z),
                torch.einsum("ij...->j...i", x))


def get_inputs():
    return [torch.randn(3, 4, 5, 18), torch.randn(18, 7), torch.randn(4, 5, 18)]


def get_init_inputs():
    return []
