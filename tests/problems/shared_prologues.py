"""What products read is computed where it is packed, or once for all that read it; edges of panels that no vector divides; sums of no terms."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.nothing = nn.Linear(0, 5)

    def forward(self, query, key, value, empty):
        query, key = F.elu(query) + 1, F.elu(key) + 1
        summary = torch.einsum("btd,bte->bde", key, value)
        weight = torch.einsum("btd,bd->bt", query, key.sum(dim=1))
        alone = torch.matmul(torch.exp(value).transpose(1, 2), value)
        return torch.einsum("btd,bde->bte", query, summary) / weight[..., None], alone, self.nothing(empty)


def get_inputs():
    return [torch.randn(3, 41, 22), torch.randn(3, 41, 22), torch.randn(3, 41, 29), torch.randn(7, 0)]


def get_init_inputs():
    return []
