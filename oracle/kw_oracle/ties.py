"""Whether outputs depend on which of several equal values an operation picks, or on which of several writes to one place comes
last: neither is part of what the operation promises. Found by computing once more with the other choice."""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kw_oracle.errors import OracleError
from kw_oracle.positions import PositionWatch, arguments_of, name_of, selects, ties_of
from kw_oracle.precision import eager_in
from kw_oracle.subject import Subject
from kw_oracle.tensors import Arguments

_WRITING = ("scatter", "scatter_", "index_put", "index_put_", "index_copy", "index_copy_")
_CLOSE = 1e-9  # sums in another order differ in the last digits of float64


def writes_in_an_order(func, args, kwargs) -> bool:
    """Whether a call may write several values to one place, where the last one stays."""
    if name_of(func) not in _WRITING:
        return False
    given = arguments_of(func, args, kwargs)
    return not given.get("accumulate") and "reduce" not in given and ("src" in given or "source" in given or "values" in given)


class ChoiceWatch(PositionWatch):
    """Also knows whether any write depended on its order."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if writes_in_an_order(func, args, kwargs):
            self.chooses = True
        return super().__torch_dispatch__(func, types, args, kwargs)


def _selected_from_the_end(func, args, kwargs):
    """The same selection from the reversed operand, its positions counted from the front again."""
    given, operand = arguments_of(func, args, kwargs), args[0]
    if name_of(func) not in ("max", "min", "argmax", "argmin", "topk", "sort", "kthvalue", "median", "nanmedian", "mode") or operand.dim() == 0:
        return func(*args, **kwargs)  # windows: which of equal values is a matter of the window alone
    dim = given.get("dim")
    if dim is None:
        return operand.numel() - 1 - func(operand.reshape(-1).flip(0), *args[1:], **kwargs)
    result = func(operand.flip(dim), *args[1:], **kwargs)
    last = operand.shape[dim] - 1
    return (result[0], last - result[1]) if isinstance(result, tuple) else last - result


def _put_from_the_end(func, args, given):
    indices, values = given["indices"], given["values"]
    if not all(isinstance(index, torch.Tensor) and index.dtype == torch.int64 for index in indices):
        return func(*args)
    indices = torch.broadcast_tensors(*indices)
    dims = range(indices[0].dim())
    missing = indices[0].dim() + args[0].dim() - len(indices) - values.dim()  # in front, where values are broadcast
    flipped = [dim - missing for dim in dims if dim >= missing and values.shape[dim - missing] == indices[0].shape[dim]]
    return func(args[0], [index.flip(tuple(dims)) for index in indices], values.flip(flipped))


def _written_from_the_end(func, args, kwargs):
    given, name = arguments_of(func, args, kwargs), name_of(func)
    if name.startswith("index_put"):
        return _put_from_the_end(func, args, given)
    dim, index = given["dim"], given["index"]
    if index.dim() == 0:
        return func(*args, **kwargs)
    if name.startswith("index_copy"):
        return func(args[0], dim, index.flip(0), given["source"].flip(dim))
    read = given["src"][tuple(slice(extent) for extent in index.shape)]
    return func(args[0], dim, index.flip(dim), read.flip(dim))


class OtherChoice(TorchDispatchMode):
    """Among equal values those from the other end are picked, and of several writes to one place the first one stays."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if selects(func, args, kwargs):
            return _selected_from_the_end(func, args, kwargs)
        if writes_in_an_order(func, args, kwargs):
            return _written_from_the_end(func, args, kwargs)
        return func(*args, **kwargs)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_floating_point():
        size = float(one[one.isfinite()].abs().max()) if bool(one.isfinite().any()) else 0.0
        return torch.allclose(one, other, rtol=_CLOSE, atol=_CLOSE * size, equal_nan=True)
    return torch.equal(one, other)


class Choices:
    """What one computation of the reference chose. `watch` is to be in force while it is computed."""

    def __init__(self, subject: Subject, inputs: Arguments):
        self.subject_, self.inputs_ = subject, inputs
        self.watch = ChoiceWatch()

    def decide(self, reference: dict[str, torch.Tensor]) -> bool:
        """Whether an output that is no position is another one under the other choice."""
        if not self.watch.chooses:
            return False
        others = {name: out for name, out in reference.items() if self.watch.find(out) is None}
        if not others:
            return False
        try:
            with OtherChoice():
                again, _ = self.subject_.reference(self.inputs_)
        except (OracleError, RuntimeError):
            return False
        return not all(_same(out, again[name]) for name, out in others.items())

    def ties(self, reference: dict[str, torch.Tensor], precision: str) -> dict[str, torch.Tensor]:
        """For each output that is positions and has ties: NAME.values, NAME.room, NAME.lines and NAME.distinct."""
        found = {name: selected for name, out in reference.items() if (selected := self.watch.find(out)) is not None}
        if not found:
            return {}
        eager, beside, gathered = ChoiceWatch(), {}, {}
        with contextlib.suppress(OracleError), eager:
            own = self.subject_.run(self.inputs_)
            outputs, _ = eager_in(precision, self.subject_, self.inputs_, own)
            beside = {name: eager.find(out) for name, out in outputs.items()}
        for name, selected in found.items():
            if (parts := ties_of(selected, beside.get(name))) is not None:
                gathered.update({f"{name}.{part}": tensor for part, tensor in parts.items()})
        return gathered
