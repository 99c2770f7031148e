"""What turns a module into one that uses its kernel: a mixin whose forward() calls the operator wherever the kernel is for what it got, and the
module's own forward() everywhere else."""

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

# Other subclasses have dispatch of their own, which knows nothing of the operator.
_PLAIN = {torch.Tensor, nn.Parameter, FakeTensor} | ({nn.Buffer} if hasattr(nn, "Buffer") else set())
_NUMBERS = {"float64": (float, int), "int64": (int,), "bool": (bool,)}


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

    def objection(self, value) -> str | None:
        if self.number is not None:
            wanted = isinstance(value, self.number) and (bool in self.number or not isinstance(value, bool))
            return None if wanted else f"'{self.name}' is no {self.number[0].__name__}"
        if type(value) not in _PLAIN:
            return f"'{self.name}' is a {type(value).__name__}, no plain tensor"
        if value.shape != self.shape:
            return f"'{self.name}' has the shape {tuple(value.shape)}, the kernel is for {tuple(self.shape)}"
        if value.dtype is not self.dtype:
            return f"'{self.name}' is {value.dtype}, the kernel is for {self.dtype}"
        if value.device.type != "cpu" or value.layout is not torch.strided:
            return f"'{self.name}' is no dense tensor of the CPU"
        for dimension, stride in self.strides:
            if value.stride(dimension) != stride:
                return f"'{self.name}' has the strides {value.stride()}, which the kernel is not for"
        return None


class Contract:
    """The operator's arguments, and how forward()'s arguments and results are made of them."""

    def __init__(self, described: dict):
        self.parameters = described["parameters"]
        self.arguments = described["arguments"]
        self.returns = described["returns"]
        self.inputs = [Slot(spec) for spec in described["inputs"]]
        self.weights = [Slot(spec) for spec in described["weights"]]
        self.outputs = [(tuple(spec["shape"]), getattr(torch, spec["dtype"])) for spec in described["outputs"]]

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


class KernelModule:
    """Stands before the original module among a class's bases. `contract` and `operator` are the class's own; without an operator the original's
    forward() does all the work."""

    contract: Contract
    operator = None
    unavailable = "there is no operator"

    def _weights(self) -> list:
        return [_reach(self, slot.path) for slot in self.contract.weights]

    def _objection(self, leaves: list, weights: list) -> str | None:
        if self.operator is None:
            return self.unavailable
        if self.training:
            return "the module is in training mode: call eval()"
        if torch.is_autocast_enabled("cpu"):
            return "autocast is on: it chooses types of its own"
        tracks = torch.is_grad_enabled()
        for slots, values in ((self.contract.inputs, leaves), (self.contract.weights, weights)):
            for slot, value in zip(slots, values):
                objection = slot.objection(value)
                if objection is not None:
                    return objection
                if tracks and slot.number is None and value.requires_grad:
                    return f"'{slot.name}' requires a gradient: use torch.no_grad() or torch.inference_mode()"
        return None

    def _leaves(self, args: tuple, kwargs: dict) -> list | None:
        given = self.contract.positional(args, kwargs)
        leaves: list = []
        if given is None or not all(_collect(tree, value, leaves) for tree, value in zip(self.contract.arguments, given)):
            return None
        return leaves

    def why_not(self, *args, **kwargs) -> str | None:
        """Why a call with these arguments would be left to the original module; None where the kernel does it."""
        leaves = self._leaves(args, kwargs)
        return "the arguments are others than the kernel's" if leaves is None else self._objection(leaves, self._weights())

    def forward(self, *args, **kwargs):
        leaves = self._leaves(args, kwargs)
        if leaves is not None:
            weights = self._weights()
            if self._objection(leaves, weights) is None:
                results = self.operator(*leaves, *weights)
                return _made(self.contract.returns, results if len(self.contract.outputs) > 1 else (results,))
        return super().forward(*args, **kwargs)
