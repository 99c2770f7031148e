"""Tensors without contents: shapes, strides, views and addresses are there, values are not.

launch() may allocate, make views and fill with zeros. Whatever else it asks of PyTorch is refused where PyTorch dispatches it, under
whichever name it was called."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .recording import Recording
from .refusal import Refusal

_LIKE = "launch() may allocate tensors, make views of them and launch kernels"


class RecordedTensor(torch.Tensor):
    """A view of a Memory. `meta` does the arithmetic of shapes."""

    is_cuda = property(lambda self: True)  # kernels are for a GPU, and programs assert it

    @staticmethod
    def __new__(cls, meta, memory):
        made = torch.Tensor._make_wrapper_subclass(cls, meta.shape, strides=meta.stride(), storage_offset=meta.storage_offset(),
                                                   dtype=meta.dtype, device="cpu")
        made.meta, made.memory = meta, memory
        return made

    @property
    def byte_offset(self):
        return self.meta.storage_offset() * self.meta.element_size()

    def data_ptr(self):
        return self.memory.begin + self.byte_offset

    def __repr__(self):
        return f"<{self.memory.name}: {self.dtype} {tuple(self.shape)}, without contents>"

    __str__ = __repr__

    def __format__(self, _spec):
        return repr(self)

    def _no_contents(self, *_args, **_kwargs):
        raise Refusal(f"launch() reads values of '{self.memory.name}'",
                      "a kernel is launched the same way whatever its inputs are: read values inside of kernels", "forbidden")

    item = tolist = numpy = __array__ = __dlpack__ = __bool__ = __int__ = __float__ = __index__ = __complex__ = _no_contents
    untyped_storage = storage = _no_contents

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return dispatch(func, args, kwargs or {})


class ScalarArgument(float):
    """A number among the problem's inputs. A kernel gets what it is in each call, so launch() can only hand it on."""

    def __new__(cls, value, index):
        made = super().__new__(cls, value)
        made.index = index
        return made

    def _refuse(self, *_args):
        raise Refusal("launch() computes with a scalar input", "hand the scalar to a kernel and compute there", "forbidden")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _refuse
    __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __round__ = __floordiv__ = __mod__ = _refuse


def argument_tensor(spec, index):
    dtype = getattr(torch, spec["dtype"])
    meta = torch.empty_strided(spec["shape"], spec["strides"], dtype=dtype, device="meta")
    storage = torch.empty(max(1, spec["span"] * dtype.itemsize), dtype=torch.uint8)
    return RecordedTensor(meta, Recording.current.add_argument(storage, dtype, index, spec["name"]))


def _fresh(meta):
    with torch.utils._python_dispatch._disable_current_modes():
        storage = torch.empty(max(1, meta.untyped_storage().nbytes()), dtype=torch.uint8)
    return RecordedTensor(meta, Recording.current.add_memory(storage, meta.dtype))


def _byte_of(value, dtype):
    """The byte that a number consists of; None: it has several."""
    with torch.utils._python_dispatch._disable_current_modes():
        raw = set(torch.full((1,), value, dtype=dtype).view(torch.uint8).tolist())
    return raw.pop() if len(raw) == 1 else None


def _fill(tensor, value, called):
    byte = _byte_of(value, tensor.dtype)
    if byte is None:
        raise Refusal(f"launch() fills a tensor with {value} by PyTorch ({called})",
                      "only zeros (and other values of one repeated byte) are filled outside of kernels: write the value in a kernel",
                      "forbidden")
    if not tensor.meta.is_contiguous():
        raise Refusal(f"launch() fills a view that is not contiguous ({called})", "fill the whole tensor, or do it in a kernel",
                      "forbidden")
    if tensor.numel() > 0:
        Recording.current.fill(tensor.memory, tensor.byte_offset, tensor.numel() * tensor.element_size(), byte)
    return tensor


_ALLOCATIONS = {"aten.empty.memory_format", "aten.empty_strided.default", "aten.empty_like.default", "aten.new_empty.default",
                "aten.new_empty_strided.default", "aten.empty_permuted.default"}
_FILLED = {"aten.zeros.default": 0, "aten.zeros_like.default": 0, "aten.new_zeros.default": 0, "aten.ones.default": 1,
           "aten.ones_like.default": 1, "aten.new_ones.default": 1}
_FULL = {"aten.full.default": 1, "aten.full_like.default": 1, "aten.new_full.default": 2}  # where the value is among the arguments
_IN_PLACE = {"aten.zero_.default", "aten.fill_.Scalar"}
_SILENT = {"aten.record_stream.default", "aten.sym_size.default", "aten.sym_stride.default", "aten.sym_numel.default"}


def _is_view(func):
    returns = func._schema.returns
    return bool(returns) and all(each.alias_info is not None and not each.alias_info.is_write for each in returns)


def _metas(value):
    if isinstance(value, RecordedTensor):
        return value.meta
    return type(value)(map(_metas, value)) if isinstance(value, (list, tuple)) else value


def dispatch(func, args, kwargs):
    name = str(func)
    if name in _ALLOCATIONS or name in _FILLED or name in _FULL:
        options = {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory", "layout")}
        made = _fresh(func(*_metas(args), **{key: _metas(value) for key, value in options.items()}, device="meta"))
        if name in _FILLED:
            return _fill(made, _FILLED[name], name)
        return _fill(made, args[_FULL[name]], name) if name in _FULL else made
    if name in _IN_PLACE and isinstance(args[0], RecordedTensor):
        return _fill(args[0], args[1] if len(args) > 1 else 0, name)
    if name == "aten._local_scalar_dense.default":
        raise Refusal("launch() reads a value of a tensor",
                      "a kernel is launched the same way whatever its inputs are: read values inside of kernels", "forbidden")
    first = args[0] if args else None
    if _is_view(func) and isinstance(first, RecordedTensor):
        result = func(*_metas(args), **{key: _metas(value) for key, value in kwargs.items()})
        if isinstance(result, (list, tuple)):
            return type(result)(RecordedTensor(each, first.memory) for each in result)
        return RecordedTensor(result, first.memory)
    hint = _LIKE + ": the work is done in kernels"
    if name in ("aten.clone.default", "aten.copy_.default", "aten._to_copy.default"):
        hint = _LIKE + ": this copies a tensor (contiguous(), to(), copy_()); pass strides to the kernel instead"
    raise Refusal(f"launch() computes with PyTorch: {name}", hint, "forbidden")


class WithoutContents(TorchDispatchMode):
    """Every operation of PyTorch inside of launch() comes here, also those that no recorded tensor takes part in."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return dispatch(func, args, kwargs or {})
