"""What turns a module into one that uses its kernel: a mixin whose forward() calls the operator wherever the kernel is for what it got, and the
module's own forward() everywhere else. It warns when that happens, or raises where the kernel was demanded."""

import inspect
import os
import sys
import warnings

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

# Other subclasses have dispatch of their own, which knows nothing of the operator.
_PLAIN = {torch.Tensor, nn.Parameter, FakeTensor} | ({nn.Buffer} if hasattr(nn, "Buffer") else set())
_NUMBERS = {"float64": (float, int), "int64": (int,), "bool": (bool,)}
_BACKENDS = ("kernel", "original")


class FallbackWarning(RuntimeWarning):
    """The original module did what the kernel was expected to do. Said once for each kind of reason."""


class KernelNotUsed(RuntimeError):
    """The kernel was demanded (strict=True) and is not for this call."""


_TOLD: set = set()


def _tell_once(kernel: str, kind: str, reason: str) -> None:
    """One warning for each kind of reason, at the line that called the module."""
    if (kernel, kind) in _TOLD:
        return
    _TOLD.add((kernel, kind))
    level, frame = 1, sys._getframe()
    passed_over = (os.path.dirname(torch.__file__) + os.sep, frame.f_code.co_filename)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(passed_over):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"the kernel of {kernel} is not used, the original module computes instead: {reason}. This is said once. To silence it: "
                  f"set_backend(\"original\") where that is meant, or warnings.filterwarnings(\"ignore\", message=\"the kernel of {kernel}\"). "
                  "To get an error instead: set_backend(\"kernel\", strict=True)", FallbackWarning, stacklevel=level)


# torch.compile calls it while it traces, and makes no graph break of it. The decorator for that would import the whole of torch._dynamo.
_tell_once._dynamo_marked_constant = True


class Slot:
    """What one argument of the operator has to be."""

    def __init__(self, spec: dict):
        self.name = spec["name"]
        self.path = tuple(spec["name"].split("."))
        self.number = _NUMBERS[spec["dtype"]] if spec["kind"] == "scalar" else None
        self.dtype = getattr(torch, spec["dtype"])
        self.shape = torch.Size(spec["shape"])
        # Where a dimension has one element its stride means nothing.
        self.strides = [(d, stride) for d, (size, stride) in enumerate(zip(spec["shape"], spec["strides"])) if size > 1]

    def objection(self, value) -> tuple[str, str] | None:
        """The kind of what is wrong, and in words what; None where the kernel takes it."""
        if self.number is not None:
            wanted = isinstance(value, self.number) and (bool in self.number or not isinstance(value, bool))
            return None if wanted else ("dtype", f"'{self.name}' is no {self.number[0].__name__}")
        if type(value) not in _PLAIN:
            return "dtype", f"'{self.name}' is a {type(value).__name__}, no plain tensor"
        if value.device.type != "cpu" or value.layout is not torch.strided:
            return "device", f"'{self.name}' is no dense tensor of the CPU but is on {value.device} with the layout {value.layout}"
        if value.shape != self.shape:
            return "shape", f"'{self.name}' has the shape {tuple(value.shape)}, the kernel is for {tuple(self.shape)}"
        if value.dtype is not self.dtype:
            return "dtype", f"'{self.name}' is {value.dtype}, the kernel is for {self.dtype}"
        for dimension, stride in self.strides:
            if value.stride(dimension) != stride:
                return "strides", f"'{self.name}' has the strides {value.stride()}, which the kernel is not for: contiguous() or clone() may help"
        return None


class Contract:
    """The operator's arguments, and how forward()'s arguments and results are made of them."""

    def __init__(self, described: dict):
        self.parameters = described["parameters"]
        self.arguments = described["arguments"]
        self.returns = described["returns"]
        self.inputs = [Slot(spec) for spec in described["inputs"]]
        self.weights = [Slot(spec) for spec in described["weights"]]
        self.outputs = described["outputs"]

    def made_outputs(self) -> list:
        """Tensors such as the operator returns, without values; their memory format is the original's."""
        return [torch.empty_strided(spec["shape"], spec["strides"], dtype=getattr(torch, spec["dtype"]), device="cpu") for spec in self.outputs]

    def positional(self, args: tuple, kwargs: dict) -> tuple | None:
        """All arguments by position, or None where they are others than the kernel's."""
        if kwargs:
            rest = self.parameters[len(args):]
            if len(kwargs) != len(rest) or any(name not in kwargs for name in rest):
                return None
            args = (*args, *[kwargs[name] for name in rest])
        return args if len(args) == len(self.arguments) else None


def _collect(tree: dict, value, leaves: list) -> bool:
    """Appends the leaves of `value`; False where it is not made like the tree."""
    if "leaf" in tree:
        leaves.append(value)
        return True
    if "constant" in tree:
        return value is None if tree["constant"] is None else value == tree["constant"]
    if "dict" in tree:
        items = tree["dict"]
        if type(value) is not dict or len(value) != len(items):
            return False
        return all(key in value and _collect(inner, value[key], leaves) for key, inner in items)
    kind, inner = (list, tree["list"]) if "list" in tree else (tuple, tree["tuple"])
    return type(value) is kind and len(value) == len(inner) and all(_collect(part, each, leaves) for part, each in zip(inner, value))


def _made(tree: dict, leaves):
    """The value that the tree describes, with the operator's results as its leaves."""
    if "leaf" in tree:
        return leaves[tree["leaf"]]
    if "constant" in tree:
        return tree["constant"]
    if "dict" in tree:
        return {key: _made(inner, leaves) for key, inner in tree["dict"]}
    if "list" in tree:
        return [_made(inner, leaves) for inner in tree["list"]]
    return tuple(_made(inner, leaves) for inner in tree["tuple"])


def _reach(holder, path: tuple):
    """A tensor of a module by its name: through submodules, and through lists and dicts that are attributes."""
    for step in path:
        if isinstance(holder, dict):
            holder = holder[step] if step in holder else holder[int(step)]
        elif isinstance(holder, (list, tuple)):
            holder = holder[int(step)]
        else:
            holder = getattr(holder, step)
    return holder


_OTHER_ARGUMENTS = "the arguments are others than the kernel's"


class KernelModule:
    """Stands before the original module among a class's bases. `contract`, `operator` and `kernel_name` are the class's own; without an operator the
    original's forward() does all the work. backend="kernel" uses the kernel wherever it can, backend="original" never; strict=True raises KernelNotUsed
    instead of leaving a call to the original."""

    contract: Contract
    operator = None
    kernel_name = "this module"
    unavailable = "there is no operator"
    _kernel_backend = "kernel"
    _kernel_strict = False

    def __init__(self, *args, **options):
        # An argument of the original by one of these names stays the original's.
        theirs = inspect.signature(super().__init__).parameters
        chosen = {name: options.pop(name) for name in ("backend", "strict") if name in options and name not in theirs}
        super().__init__(*args, **options)
        self.set_backend(**chosen)

    def set_backend(self, backend: str = "kernel", *, strict: bool = False):
        """Which of the two computes, and whether a call that the kernel is not for is an error. Gives the module back."""
        if backend not in _BACKENDS:
            raise ValueError(f"backend={backend!r}: it is one of {', '.join(map(repr, _BACKENDS))}")
        if strict and backend == "original":
            raise ValueError('strict=True demands the kernel, backend="original" never uses it: choose one')
        self._kernel_backend, self._kernel_strict = backend, bool(strict)
        return self

    def _weights(self) -> list:
        return [_reach(self, slot.path) for slot in self.contract.weights]

    def _objection(self, leaves: list, weights: list) -> tuple[str, str] | None:
        if self.operator is None:
            return "unavailable", self.unavailable
        if self.training:
            return "training", "the module is in training mode: call eval()"
        if torch.is_autocast_enabled("cpu"):
            return "autocast", "autocast is on and chooses types of its own: call the module outside of torch.autocast()"
        tracks = torch.is_grad_enabled()
        for slots, values in ((self.contract.inputs, leaves), (self.contract.weights, weights)):
            for slot, value in zip(slots, values):
                objection = slot.objection(value)
                if objection is not None:
                    return objection
                if tracks and slot.number is None and value.requires_grad:
                    return "gradient", (f"'{slot.name}' requires a gradient, which the kernel does not have: "
                                        "call the module inside of torch.no_grad() or torch.inference_mode()")
        return None

    def _leaves(self, args: tuple, kwargs: dict) -> list | None:
        given = self.contract.positional(args, kwargs)
        leaves: list = []
        if given is None or not all(_collect(tree, value, leaves) for tree, value in zip(self.contract.arguments, given)):
            return None
        return leaves

    def why_not(self, *args, **kwargs) -> str | None:
        """Why a call with these arguments would be left to the original module; None where the kernel does it."""
        if self._kernel_backend == "original":
            return 'backend="original" was chosen'
        leaves = self._leaves(args, kwargs)
        objection = self._objection(leaves, self._weights()) if leaves is not None else ("arguments", _OTHER_ARGUMENTS)
        return None if objection is None else objection[1]

    def forward(self, *args, **kwargs):
        if self._kernel_backend == "original":
            return super().forward(*args, **kwargs)
        kind, reason = "arguments", _OTHER_ARGUMENTS
        leaves = self._leaves(args, kwargs)
        if leaves is not None:
            weights = self._weights()
            objection = self._objection(leaves, weights)
            if objection is None:
                results = self.operator(*leaves, *weights)
                return _made(self.contract.returns, results if len(self.contract.outputs) > 1 else (results,))
            kind, reason = objection
        if self._kernel_strict:
            raise KernelNotUsed(f"the kernel of {self.kernel_name} is not for this call: {reason} (strict=True forbids the original module)")
        if kind != "unavailable":  # that was said when it could not be loaded
            _tell_once(self.kernel_name, kind, reason)
        return super().forward(*args, **kwargs)
