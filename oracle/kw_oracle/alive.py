"""How much memory eager's own values take at once: what forward() computes, outputs included, beside inputs and weights."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kw_oracle.errors import OracleError
from kw_oracle.subject import Subject
from kw_oracle.tensors import Arguments, copy_of


def _storages(values):
    for value in values:
        if isinstance(value, torch.Tensor) and value.layout == torch.strided:
            yield value.untyped_storage()


class Alive(TorchDispatchMode):
    """Memory that operators take inside of themselves is not seen."""

    def __init__(self, known):
        super().__init__()
        self.known = {storage._cdata for storage in _storages(known)}
        self.alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self.most = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for storage in _storages(tree_leaves(result)):
            if storage._cdata not in self.known:
                self.alive[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        self.alive = {key: entry for key, entry in self.alive.items() if not entry[0].expired()}
        self.most = max(self.most, sum(size for _, size in self.alive.values()))
        return result


def most_bytes_alive(subject: Subject, inputs: Arguments) -> float:
    """0: forward() does not run under a dispatch mode."""
    own = inputs.mapped(copy_of)
    watch = Alive([*own.tensors().values(), *subject.state().values()])
    try:
        with watch:
            subject.run_in_place(own)
    except (OracleError, RuntimeError, NotImplementedError):
        return 0.0
    return float(watch.most)
