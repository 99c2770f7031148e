"""What a given tensor's values have in common that a problem may rely on: labels, zeros in places, symmetry, rows that
are probabilities, a sign, a range. Finds it, and gives it back to other values."""

from dataclasses import dataclass

import torch

_MANY_ZEROS = 0.2
_FEW_VALUES = 8
_SAMPLE = 4096


@dataclass
class Structure:
    labels: bool  # a few distinct values, such as masks and classes: better left alone
    low: float
    high: float
    mean: float
    std: float
    zeros: torch.Tensor | None
    nonfinite: torch.Tensor | None
    symmetric: bool
    probabilities: bool
    smallest_normal: float = 0.0  # of the tensor's own type
    digits: int = 0  # binary ones, of the same
    keeps_sums: bool = False  # no part of the values may become next to nothing as a whole

    def kept_in(self, values: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
        if self.symmetric:
            upper = values.triu()
            values = upper + upper.triu(1).mT
        if self.zeros is not None:
            values = values.masked_fill(self.zeros, 0)
        if self.probabilities:
            values = values.abs()
            total = values.sum(-1, keepdim=True)
            values = torch.where(total > 0, values / total, torch.full_like(values, 1 / values.shape[-1]))
        if self.nonfinite is not None:
            values = torch.where(self.nonfinite, given, values)
        return values


def _is_labels(tensor: torch.Tensor) -> bool:
    if tensor.numel() < 32:
        return False
    flat = tensor.reshape(-1)
    step = max(1, flat.numel() // _SAMPLE)
    distinct = flat[::step].unique()
    if distinct.numel() > _FEW_VALUES:
        return False
    distinct = distinct[~distinct.isnan()]
    inside = all(bool(torch.isin(part, distinct).all()) for part in flat.split(1 << 22))
    return inside and distinct.numel() >= 2


def structure_of(tensor: torch.Tensor) -> Structure:
    finite = tensor.isfinite()
    nonfinite = None if bool(finite.all()) else ~finite
    values = tensor if nonfinite is None else tensor[finite]
    if values.numel() == 0:
        values = torch.zeros(1, dtype=tensor.dtype)
    low, high = float(values.min()), float(values.max())
    zeros = tensor == 0
    share = float(zeros.sum()) / max(1, tensor.numel())
    square = tensor.dim() >= 2 and tensor.shape[-1] == tensor.shape[-2] > 1
    wide = tensor.dim() >= 1 and tensor.shape[-1] > 1 and nonfinite is None and low >= 0 and high > 0
    return Structure(
        labels=_is_labels(tensor),
        low=low,
        high=high,
        mean=float(values.mean(dtype=torch.float64)),
        std=float(values.std(correction=0)) if low < high else 0.0,
        zeros=zeros if _MANY_ZEROS <= share < 1 else None,
        nonfinite=nonfinite,
        symmetric=square and bool(torch.equal(tensor, tensor.mT)) and low < high,
        probabilities=wide and bool(((tensor.sum(-1, dtype=torch.float64) - 1).abs() < 1e-4).all()),
    )


def same_sign(values: torch.Tensor, structure: Structure) -> torch.Tensor:
    if structure.low >= 0:
        return values.abs()
    return -values.abs() if structure.high <= 0 else values


def same_range(values: torch.Tensor, structure: Structure) -> torch.Tensor:
    low, high = float(values.min()), float(values.max())
    if structure.low <= low and high <= structure.high:
        return values
    if low < high and structure.low < structure.high:
        values = (values - low) * ((structure.high - structure.low) / (high - low)) + structure.low
    return values.clamp(structure.low, structure.high)
