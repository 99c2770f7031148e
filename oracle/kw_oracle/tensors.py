"""Tensors as the kernel sees them: names, C++ identifiers, strides and memory, and the flattening of nested inputs and
outputs. Values are never changed here."""

import inspect
import math
import mmap
from dataclasses import dataclass, replace

import torch
from torch.utils import _pytree as pytree

from kw_oracle.errors import bad_problem, unsupported
from kw_oracle.loading import Problem
from kw_oracle.names import c_identifier

DTYPES = {
    getattr(torch, name): name
    for name in ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool")
}


def span_of(shape, strides) -> int:
    if math.prod(shape) == 0:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))


def memory_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's memory from its first element to its last, gaps included: a view of one dimension."""
    return tensor.as_strided((span_of(tensor.shape, tensor.stride()),), (1,))


def with_memory(memory: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """`memory` seen with the shape and the strides of `like`."""
    return memory.reshape(-1).as_strided(like.shape, like.stride())


def copy_of(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A copy with the same strides, gaps and overlaps included."""
    return with_memory(memory_of(tensor).to(dtype or tensor.dtype, copy=True), tensor)


def in_shared_memory(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides in memory that could be shared with another process, page for page."""
    memory = memory_of(tensor)
    if memory.numel() == 0:
        return copy_of(tensor)
    shared = torch.frombuffer(mmap.mmap(-1, memory.numel() * memory.element_size()), dtype=memory.dtype)
    return with_memory(shared.copy_(memory), tensor)


_MEMORY_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def in_memory_format(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor contiguous or in channels_last, the formats that modules hand on to each other; a copy where it is in neither."""
    has_one = tensor.dim() in _MEMORY_FORMATS and tensor.is_contiguous(memory_format=_MEMORY_FORMATS[tensor.dim()])
    return tensor if has_one else tensor.contiguous()


def laid_out_as(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The values with the strides of `like`, which is dense; a tensor of another shape as it is."""
    if tensor.shape != like.shape or tensor.stride() == like.stride():
        return tensor
    return torch.empty_strided(like.shape, like.stride(), dtype=tensor.dtype).copy_(tensor)


def all_laid_out_as(tensors: dict[str, torch.Tensor], like: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: laid_out_as(tensor, like[name]) if name in like else tensor for name, tensor in tensors.items()}


def bytes_of(tensor: torch.Tensor) -> int:
    return min(tensor.numel(), span_of(tensor.shape, tensor.stride())) * tensor.element_size()


def check_tensor(problem: Problem, what: str, tensor: torch.Tensor) -> None:
    """Raises for what a kernel cannot be given or asked for."""
    if tensor.device.type != "cpu":
        raise unsupported(f"{problem.path}: {what} is on the device '{tensor.device}'",
                          "make the tensors on the default device: the oracle runs on the CPU")
    if tensor.layout != torch.strided or tensor.is_nested:
        layout = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        raise unsupported(f"{problem.path}: {what} is {layout}, not a dense tensor", "use dense tensors")
    if tensor.dtype not in DTYPES:
        raise unsupported(f"{problem.path}: {what} has the dtype {str(tensor.dtype).removeprefix('torch.')}",
                          "a kernel takes and gives " + ", ".join(DTYPES.values()))


def spec_of(name: str, kind: str, tensor: torch.Tensor, taken: set[str]) -> dict:
    shape, strides = list(tensor.shape), list(tensor.stride())
    return {"name": name, "c_name": c_identifier(name, taken), "dtype": DTYPES[tensor.dtype], "kind": kind,
            "shape": shape, "strides": strides, "span": span_of(shape, strides)}


def scalar_spec(name: str, value, taken: set[str]) -> dict:
    dtype = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64"
    return {"name": name, "c_name": c_identifier(name, taken), "dtype": dtype, "kind": "scalar", "shape": [],
            "strides": [], "span": 0, "value": value + 0}


@dataclass(frozen=True)
class Arguments:
    """forward()'s arguments, flattened: tensors and numbers have a name, None and strings have none."""

    problem: Problem
    structure: pytree.TreeSpec
    names: tuple
    leaves: tuple

    def tensors(self) -> dict[str, torch.Tensor]:
        return {name: leaf for name, leaf in zip(self.names, self.leaves) if isinstance(leaf, torch.Tensor)}

    def scalars(self) -> dict:
        return {name: leaf for name, leaf in zip(self.names, self.leaves)
                if name is not None and not isinstance(leaf, torch.Tensor)}

    def with_values(self, values: dict) -> "Arguments":
        return replace(self, leaves=tuple(values.get(name, leaf) for name, leaf in zip(self.names, self.leaves)))

    def mapped(self, change) -> "Arguments":
        """With every tensor replaced by change(tensor)."""
        return replace(self, leaves=tuple(change(leaf) if isinstance(leaf, torch.Tensor) else leaf
                                          for leaf in self.leaves))

    def specs(self, taken: set[str]) -> list[dict]:
        return [spec_of(name, "input", leaf, taken) if isinstance(leaf, torch.Tensor) else scalar_spec(name, leaf, taken)
                for name, leaf in zip(self.names, self.leaves) if name is not None]

    def shape_key(self) -> list:
        return [(tuple(leaf.shape), leaf.stride(), leaf.dtype) if isinstance(leaf, torch.Tensor) else type(leaf)
                for leaf in self.leaves]

    def call(self) -> list:
        return pytree.tree_unflatten(list(self.leaves), self.structure)


def _step(key) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def argument_names(model: torch.nn.Module, count: int) -> list[str]:
    names = []
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}.{i}" for i in range(count - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return (names + [f"arg{i}" for i in range(len(names), count)])[:count]


def flatten_inputs(problem: Problem, model: torch.nn.Module, given: list, state_names: set[str]) -> Arguments:
    top = argument_names(model, len(given))
    with_paths, structure = pytree.tree_flatten_with_path(given)
    names, leaves, taken = [], [], set(state_names)
    for path, leaf in with_paths:
        name = ".".join([top[path[0].idx], *map(_step, path[1:])])
        if isinstance(leaf, torch.Tensor):
            check_tensor(problem, f"input '{name}'", leaf)
            leaf = leaf.detach()
        elif isinstance(leaf, float) and not math.isfinite(leaf):
            raise unsupported(f"{problem.path}: the input '{name}' is {leaf}", "use a finite number")
        elif leaf is None or isinstance(leaf, str):
            names.append(None)
            leaves.append(leaf)
            continue
        elif not isinstance(leaf, (bool, int, float)):
            raise unsupported(f"{problem.path}: the input '{name}' is a {type(leaf).__name__}",
                              "inputs are tensors, numbers, and lists, tuples or dicts of them")
        # A parameter keeps its name; an input of the same name gives way.
        while name in taken:
            name = "input." + name
        taken.add(name)
        names.append(name)
        leaves.append(leaf)
    return Arguments(problem, structure, tuple(names), tuple(leaves))


def flatten_outputs(problem: Problem, result, taken: set) -> dict[str, torch.Tensor]:
    """The output tensors in order, under names that are not in `taken`; None among them is left out. They keep their memory
    format: channels_last stays so, everything else is contiguous."""
    outputs = {}
    for path, leaf in pytree.tree_flatten_with_path(result)[0]:
        steps = [_step(key) for key in path]
        name = "out" + (steps[0] if steps and steps[0].isdigit() else "".join("." + s for s in steps[:1]))
        name = ".".join([name, *steps[1:]])
        if leaf is None:
            continue
        if not isinstance(leaf, torch.Tensor):
            raise unsupported(f"{problem.path}: forward() returned a {type(leaf).__name__}"
                              + (f" as '{name}'" if steps else ""), "return a tensor, or a tuple, list or dict of tensors")
        check_tensor(problem, f"the output '{name}'", leaf)
        leaf = leaf.detach()
        while name in taken:
            name = "output." + name
        outputs[name] = in_memory_format(leaf)
    if not outputs:
        raise bad_problem(f"{problem.path}: forward() returned no tensor", "return what it computes")
    return outputs
