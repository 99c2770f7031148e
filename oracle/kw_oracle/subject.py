"""A problem's module, ready to run: in its own types, or with its floating types replaced throughout (float64 for the
reference). Inputs are copied before each call, so a forward() that writes into them harms nothing."""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kw_oracle.loading import Problem, blamed_on, build_model, call_get_inputs, seed_everything
from kw_oracle.state import entries_of
from kw_oracle.tails import precise
from kw_oracle.tensors import Arguments, copy_of, flatten_inputs, flatten_outputs

TO_DOUBLE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
             torch.complex64: torch.complex128}
TO_SINGLE = {torch.float64: torch.float32, torch.complex128: torch.complex64}
TO_BF16 = {torch.float32: torch.bfloat16, torch.float64: torch.bfloat16}
TO_FP16 = {torch.float32: torch.float16, torch.float64: torch.float16}

_MOST_KEPT = 1 << 30  # bytes of weights in float64 that wait for the next reference

_FRESH = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default)


class Retyped(TorchDispatchMode):
    """Replaces the types that forward() names itself, such as x.float() or dtype=torch.float32. In the reference, small results
    keep their digits."""

    def __init__(self, types: dict[torch.dtype, torch.dtype]):
        super().__init__()
        self.types_ = types

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = {key: self.types_.get(value, value) if isinstance(value, torch.dtype) else value
                  for key, value in (kwargs or {}).items()}
        args = tuple(self.types_.get(arg, arg) if isinstance(arg, torch.dtype) else arg for arg in args)
        result = (precise(func, args) if self.types_ is TO_DOUBLE else func)(*args, **kwargs)
        if func in _FRESH and result.dtype in self.types_:
            result = result.to(self.types_[result.dtype])
        return result


def converted(tensor: torch.Tensor, types: dict) -> torch.Tensor:
    return copy_of(tensor, types[tensor.dtype]) if tensor.dtype in types else tensor


class Subject:
    def __init__(self, problem: Problem, weights_seed: int = 0, drawn_constants: bool = False):
        self.problem = problem
        self.model = build_model(problem, weights_seed, drawn_constants)
        self.entries = entries_of(problem, self.model)
        self.doubles_: dict[str, tuple] = {}

    def inputs(self, seed: int) -> Arguments:
        given = call_get_inputs(self.problem, seed)
        return flatten_inputs(self.problem, self.model, given, {entry.name for entry in self.entries})

    def state(self) -> dict[str, torch.Tensor]:
        return {entry.name: entry.get() for entry in self.entries}

    def install(self, values: dict[str, torch.Tensor]) -> None:
        for entry in self.entries:
            if entry.name in values:
                entry.set(values[entry.name])

    def run(self, inputs: Arguments, seed: int = 0) -> dict[str, torch.Tensor]:
        """forward() in its own types; the randomness that it may use follows the seed."""
        return self.run_in_place(inputs.mapped(copy_of), seed)

    def run_in_place(self, inputs: Arguments, seed: int = 0) -> dict[str, torch.Tensor]:
        """The same without a copy: forward() may write into the inputs."""
        seed_everything(seed)
        with blamed_on(self.problem, "forward()"), torch.no_grad():
            result = self.model(*inputs.call())
        taken = {entry.name for entry in self.entries} | set(inputs.names)
        return flatten_outputs(self.problem, result, taken)

    def run_as(self, inputs: Arguments, types: dict, inner: bool = True) -> dict[str, torch.Tensor]:
        """forward() with its types replaced: weights, inputs, defaults and, with `inner`, those that it names itself."""
        own = self.state()
        default = torch.get_default_dtype()
        self.install(self._in_double(own) if types is TO_DOUBLE else {name: converted(tensor, types) for name, tensor in own.items()})
        torch.set_default_dtype(types.get(default, default))
        try:
            with Retyped(types) if inner else contextlib.nullcontext():
                return self.run(inputs.mapped(lambda tensor: converted(tensor, types)))
        finally:
            torch.set_default_dtype(default)
            self.install(own)

    def _in_double(self, own: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Converted once for all references, as long as nothing writes to a tensor or to what was made of it."""
        def mark(tensor):
            return tensor.data_ptr(), tensor._version

        result, kept, most = {}, {}, _MOST_KEPT
        for name, tensor in own.items():
            source, double, written = self.doubles_.get(name, (None, None, None))
            result[name] = double if source == mark(tensor) and written == double._version else converted(tensor, TO_DOUBLE)
            most -= result[name].nbytes
            if most >= 0:
                kept[name] = (mark(tensor), result[name], result[name]._version)
        self.doubles_ = kept
        return result

    def reference(self, inputs: Arguments) -> tuple[dict[str, torch.Tensor], str]:
        """The outputs in float64 and, where that could not be had, a note that says so."""
        own_error = None
        for inner in (True, False):
            try:
                outputs = self.run_as(inputs, TO_DOUBLE, inner)
                break
            except Exception as error:  # noqa: BLE001: the module's own types decide whether the problem is broken
                own_error = own_error or error
        else:
            note = f"the reference is eager's own output: the module cannot run in float64 ({own_error})"
            return as_double(self.run(inputs)), note
        return as_double(outputs), ""


def as_double(outputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: out.double() if out.is_floating_point() else out for name, out in outputs.items()}


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal values, NaN equal to NaN, without large temporaries."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if torch.equal(a, b):
        return True
    if not a.is_floating_point():
        return False
    for left, right in blocks(a, b):
        if not torch.equal(left.isnan(), right.isnan()) or not torch.equal(left.nan_to_num(), right.nan_to_num()):
            return False
    return True


def blocks(*tensors: torch.Tensor, size: int = 1 << 22):
    """Aligned pieces of tensors of the same number of elements."""
    flats = [tensor.reshape(-1) for tensor in tensors]
    for start in range(0, flats[0].numel(), size):
        yield tuple(flat[start:start + size] for flat in flats)


def same_outputs(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and all(same_bits(a[name], b[name]) for name in a)
