"""The bytes without which the output cannot be right, found by trying: single elements are poked, and a tensor counts
only if every poke shows. What could not be tried does not count, so the result is a floor."""

import time

import torch

from kw_oracle.errors import OracleError
from kw_oracle.structure import structure_of
from kw_oracle.subject import Subject, same_outputs
from kw_oracle.tensors import Arguments, bytes_of

_POKES = 8
_SMALLEST_SHARE = 0.02
_CPU_SECONDS = 6.0  # of all threads together: a busy machine must not change the answer


def _poked_value(tensor: torch.Tensor, place: tuple, draw: torch.Generator):
    """A value that makes itself felt: NaN, or for integers another value that occurs in the tensor."""
    if tensor.is_floating_point():
        return float("nan")
    old = tensor[place].item()
    if tensor.dtype == torch.bool:
        return not old
    flat = tensor.reshape(-1)
    sample = flat[torch.randint(flat.numel(), (64,), generator=draw)]
    different = sample[sample != old]
    return different[0].item() if different.numel() else (old + 1 if old < torch.iinfo(tensor.dtype).max else old - 1)


def _every_poke_shows(run, inputs: Arguments, target: torch.Tensor, outputs: dict, deadline: float) -> bool:
    draw = torch.Generator().manual_seed(12345)
    for _ in range(_POKES):
        place = tuple(int(torch.randint(extent, (), generator=draw)) for extent in target.shape)
        old = target[place].clone()
        target[place] = _poked_value(target, place, draw)
        try:
            shows = not same_outputs(run(inputs), outputs)
        except OracleError:
            shows = True  # it was looked at
        finally:
            target[place] = old
        if not shows or time.process_time() > deadline:
            return False
    return True


def _needed_share(tensor: torch.Tensor) -> float:
    """Zeros in place and the second half of a symmetric matrix need not be read by a kernel that knows of them."""
    if not tensor.is_floating_point():
        return 1.0
    structure = structure_of(tensor)
    share = 0.5 if structure.symmetric else 1.0
    if structure.zeros is not None:
        share *= 1 - float(structure.zeros.sum()) / tensor.numel()
    return share


def essential_bytes(subject: Subject, inputs: Arguments, outputs: dict, total: float, writes: bool) -> float:
    """`writes` says that forward() writes into its inputs, which then have to be copied for every try."""
    run = subject.run if writes else subject.run_in_place
    deadline = time.process_time() + _CPU_SECONDS
    essential = float(sum(map(bytes_of, outputs.values())))
    tensors = [*inputs.tensors().values(), *subject.state().values()]
    # Tied weights are read once.
    distinct = {(t.data_ptr(), t.shape, t.stride()): t for t in tensors if bytes_of(t) >= _SMALLEST_SHARE * total > 0}
    for tensor in sorted(distinct.values(), key=bytes_of, reverse=True):
        if time.process_time() > deadline:
            break
        if _every_poke_shows(run, inputs, tensor, outputs, deadline):
            essential += bytes_of(tensor) * _needed_share(tensor)
    return essential
