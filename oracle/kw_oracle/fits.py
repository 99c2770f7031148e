"""Refuses a problem that does not fit into this machine's memory before anything is computed: sizes are found on PyTorch's meta
device. What is counted is certain to be needed at once, while the float64 reference is computed; so nothing that fits is refused."""

import hashlib
import pathlib
import time
from dataclasses import dataclass

import torch
from torch.utils import _pytree as pytree

from kw_oracle.alive import Alive
from kw_oracle.errors import unsupported
from kw_oracle.loading import build_model, call_get_inputs, load_text
from kw_oracle.scaling import Number, batches_of, sizes_of, with_values

_SECONDS = 3.0  # of looking at one text; what was seen until then is a floor
_GIGA = 1e9


class _Enough(Exception):
    pass


class _LimitedAlive(Alive):
    def __init__(self, known):
        super().__init__(known)
        self.end_ = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.end_ = self.end_ or time.monotonic() + _SECONDS  # from the first operation on: what PyTorch imports for it is no part
        if time.monotonic() > self.end_:
            raise _Enough
        return super().__torch_dispatch__(func, types, args, kwargs)


@dataclass(frozen=True)
class Need:
    """In bytes, in the problem's own types and in float64."""

    weights: float = 0.0
    inputs: float = 0.0
    values: float = 0.0  # what forward() holds at the most, outputs included
    double: float = 0.0  # weights and values of the reference, and its inputs twice: they are copied before a call

    @property
    def total(self) -> float:
        return self.weights + self.inputs + self.double


def _bytes(tensors, in_double: bool = False) -> float:
    return float(sum(each.numel() * (8 if in_double and each.is_floating_point() else each.element_size()) for each in tensors))


def _tensors(value) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def need_of(path: pathlib.Path, source: bytes) -> Need:
    """What could not be told without values counts as nothing."""
    weights, inputs, most, widening = [], [], 0.0, 1.0
    with torch.device("meta"), torch.no_grad():
        try:
            problem = load_text(path, source)
            given = call_get_inputs(problem, 0)
            inputs = _tensors(given)
            model = build_model(problem, 0)
            weights = [*model.parameters(), *model.buffers()]
            watch = _LimitedAlive([*inputs, *weights])
            try:
                with watch:
                    outputs = _tensors(model(*given))
                floats = [each.element_size() for each in outputs if each.is_floating_point()]
                widening = 8 / max(floats) if floats and len(floats) == len(outputs) else 1.0
            finally:
                most = float(watch.most)
        except Exception:  # noqa: BLE001: what is wrong with the problem is told when it is loaded for good
            pass
    double = _bytes(weights, True) + 2 * _bytes(inputs, True) + widening * most
    return Need(_bytes(weights), _bytes(inputs), most, double)


def _number_in(path: pathlib.Path, name: str = "") -> float | None:
    """The number in a file, or on its line that begins with `name`."""
    try:
        for line in path.read_text().splitlines():
            words = line.split()
            if words and (not name or words[0] == name):
                return float(words[1 if name else 0])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _control_groups(root: pathlib.Path) -> list[pathlib.Path]:
    """Of this process, and those above it: a limit of any of them binds."""
    base = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return [base]
    own = next((line[3:].strip("/") for line in lines if line.startswith("0::/")), "")
    parts = pathlib.PurePath(own).parts
    return [base.joinpath(*parts[:count]) for count in range(len(parts) + 1)]


def free_bytes(root: pathlib.Path = pathlib.Path("/")) -> float:
    """What programs may still take without paging; infinite where the system does not tell."""
    kibibytes = _number_in(root / "proc/meminfo", "MemAvailable:")
    free = kibibytes * 1024 if kibibytes is not None else float("inf")
    for group in _control_groups(root):
        limit, used = _number_in(group / "memory.max"), _number_in(group / "memory.current")
        if limit is not None and used is not None:
            given_back = _number_in(group / "memory.stat", "inactive_file") or 0.0
            free = min(free, limit - used + given_back)
    return free


def _batch_that_fits(path: pathlib.Path, source: bytes, free: float) -> tuple[Number, int] | None:
    try:
        batches = batches_of(path, source, sizes_of(path, source))
    except Exception:  # noqa: BLE001: advice only
        return None
    for number in batches:
        value = number.value
        while value > 1:
            value //= 2
            if need_of(path, with_values(source, {number: value})).total <= free:
                return number, value
    return None


def _advice(path: pathlib.Path, source: bytes, free: float) -> str:
    found = _batch_that_fits(path, source, free)
    if found is None:
        return "give it smaller shapes, close other programs, or use a machine with more memory"
    number, value = found
    return (f"it fits with {number.name} = {value} in place of {number.value} (line {number.line}); 'kernelwright bench --scale-to' makes "
            "batches smaller by itself")


_known: dict[str, Need] = {}


def check_fits(file: str) -> None:
    """Raises where the problem cannot fit. What is wrong with it otherwise is left to those that load it."""
    path = pathlib.Path(file)
    try:
        source = path.read_bytes()
    except OSError:
        return
    key = hashlib.sha256(source).hexdigest()
    if key not in _known:
        _known[key] = need_of(path, source)
    need, free = _known[key], free_bytes()
    if need.total <= free:
        return

    def gigabytes(count: float) -> str:
        return f"{count / _GIGA:.3g}"

    raise unsupported(
        f"{path}: does not fit into memory: it asks for {gigabytes(need.total)} GB at once, and {gigabytes(free)} GB are free here (its weights "
        f"take {gigabytes(need.weights)} GB, its inputs {gigabytes(need.inputs)}, what forward() holds {gigabytes(need.values)}; the reference "
        "is computed in float64)", _advice(path, source, free))
