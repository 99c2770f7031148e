"""Initial weights that tell: what a module sets to a constant when it is built is drawn from the seed, for Model in the oracle and for ModelNew in the
sandbox alike.

Ones and zeros are known to whoever writes a kernel, so that a scale or a bias that it leaves out would not show. The two modules share no names; what
they share is the seed, and the constants themselves: the third parameter of 64 ones gets the same values in both, and so does each buffer of running
statistics. Values are drawn while the module is built, so that what it fuses, packs or transposes then is made of them. PyTorch's own generator is left
alone, and with it all weights that are random anyway."""

import hashlib

import torch
from torch.nn.modules import module as nn_module
from torch.utils._python_dispatch import TorchDispatchMode

_UNWRITTEN = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


def is_running(name):
    return name.endswith(("running_mean", "running_var"))


def constant_of(tensor):
    """The value that all elements have; None where they differ, or nothing is to be drawn."""
    if not tensor.is_floating_point() or tensor.numel() == 0 or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return None
    first = tensor[(0,) * tensor.dim()]
    last = tensor[(-1,) * tensor.dim()]
    if not bool(first == last) or not bool(first.isfinite()) or not bool((tensor == first).all()):
        return None
    return float(first)


def _drawn(key, value, shape):
    """Values in place of a constant: of its sign and size; in place of zeros small ones, so that products stay in their range."""
    count = int(torch.Size(shape).numel())
    number = int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "big") % 2**63
    draw = torch.Generator().manual_seed(number)
    if value != 0:
        return (value * (torch.rand(count, generator=draw, dtype=torch.float64) + 0.5)).view(shape)
    size = 0.5 if count == max(shape, default=1) else count**-0.25
    return (size * torch.randn(count, generator=draw, dtype=torch.float64)).view(shape)


def _memory(tensor):
    try:
        return tensor.untyped_storage().data_ptr()
    except RuntimeError:  # it has none
        return 0


def _place(tensor):
    return tensor.storage_offset(), tensor.shape, tensor.stride()


class DrawnConstants(TorchDispatchMode):
    """In force while a module is built: `with DrawnConstants(seed, holds_statistics) as drawn: model = ...; drawn.finish(model)`.

    `holds_statistics(name, value, count)` tells whether a buffer of that name, constant and size is one of running statistics. Other buffers are
    masks and tables, which mean what they are."""

    def __init__(self, seed, holds_statistics):
        super().__init__()
        self._seed, self._holds_statistics = seed, holds_statistics
        self._counts = {}
        self._numbers = {}  # by place and constant: which of its kind a tensor is, however often it is filled
        self._watched = {}  # by memory: kinds and tensors, which are kept so that their memory is no other's
        self._unwritten = set()
        self._values = set()
        self._is_own = False
        self._hooks = ()

    def __enter__(self):
        self._hooks = (nn_module.register_module_parameter_registration_hook(self._on_parameter),
                       nn_module.register_module_buffer_registration_hook(self._on_buffer))
        return super().__enter__()

    def __exit__(self, *error):
        for hook in self._hooks:
            hook.remove()
        return super().__exit__(*error)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        if self._is_own:
            return result
        unwritten = function._schema.name.partition("::")[2] in _UNWRITTEN
        makes = not any(each.alias_info is not None for each in function._schema.returns)  # a view of unwritten memory is as unwritten
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if makes and isinstance(each, torch.Tensor):
                (self._unwritten.add if unwritten else self._unwritten.discard)(_memory(each))
        if function._schema.is_mutable:
            given = [*args, *(kwargs.get(each.name) for each in function._schema.arguments[len(args):])]
            for each, described in zip(given, function._schema.arguments):
                if isinstance(each, torch.Tensor) and described.alias_info is not None and described.alias_info.is_write:
                    self._written(each)
        return result

    def _written(self, tensor):
        memory = _memory(tensor)
        self._unwritten.discard(memory)
        self._replace_in(memory)

    def _on_parameter(self, _module, _name, parameter):
        if parameter is not None and not torch.nn.parameter.is_lazy(parameter):
            self._watch("parameter", parameter)

    def _on_buffer(self, _module, name, buffer):
        if not isinstance(buffer, torch.Tensor) or torch.nn.parameter.is_lazy(buffer):
            return
        value = self._apart(constant_of, buffer)
        if value is not None and self._holds_statistics(name, value, buffer.numel()):
            self._watch("statistics", buffer)

    def _watch(self, kind, tensor):
        memory = _memory(tensor)
        if memory == 0:
            return
        known = self._watched.setdefault(memory, [])
        if not any(_place(each) == _place(tensor) for _kind, each in known):
            known.append((kind, self._apart(torch.Tensor.detach, tensor)))
        if memory not in self._unwritten:
            self._replace_in(memory)

    def _apart(self, work, *given):
        self._is_own = True
        try:
            with torch.no_grad():
                return work(*given)
        finally:
            self._is_own = False

    def _replace_in(self, memory):
        for kind, tensor in self._watched.get(memory, ()):
            self._replace(kind, tensor)

    def _replace(self, kind, tensor):
        value = self._apart(constant_of, tensor)
        if value is None or (tensor.numel() == 1 and value in self._values):  # drawn before, and copied
            return
        kin = (kind, value, tensor.numel())
        place = (_memory(tensor), _place(tensor), *kin)
        if place not in self._numbers:
            self._numbers[place] = self._counts[kin] = self._counts.get(kin, -1) + 1
        values = self._apart(_drawn, (self._seed, *kin, self._numbers[place]), value, tensor.shape)
        self._apart(tensor.copy_, values)
        if tensor.numel() == 1:
            self._values.add(self._apart(constant_of, tensor))

    def finish(self, model):
        """What was set past all operators that are seen."""
        for parameter in model.parameters():
            if not torch.nn.parameter.is_lazy(parameter):
                self._watch("parameter", parameter)
