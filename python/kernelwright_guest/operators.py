"""Which of PyTorch's operators do work, how they are taken away from a candidate, and how they are watched where they are allowed."""

import ctypes
import sys
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Memory, constants and questions: no work.
_HARMLESS = set("""empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full
    full_like new_full zero_ fill_ scalar_tensor arange resize_ resize_as_ set_ _local_scalar_dense lift lift_fresh lift_fresh_copy detach detach_
    alias _unsafe_view _reshape_alias is_same_size is_set_to _has_same_storage_numel is_pinned record_stream item
    _efficientzerotensor _nested_tensor_size stride size numel sym_size sym_stride sym_numel sym_storage_offset""".split())
# The same values elsewhere: no work, but for a problem that is nothing else.
_MOVEMENT = set("copy_ copy clone _to_copy contiguous to _copy_from _copy_from_and_resize pin_memory _pin_memory".split())
# Registered where they are taken apart, but compute by themselves.
_COMPUTING_COMPOSITES = ("fbgemm_", "max_pool1d")
_COMPUTING_KEYS = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_OTHER_LAYOUTS = ("MkldnnCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU")
_LEFT_ALONE = ("c10d", "prim", "profiler", "_c10d_functional")


_keep_for_ever = ctypes.pythonapi.Py_IncRef


def _schema_of(name):
    base, _, overload = name.partition(".")
    try:
        return torch._C._get_schema(base, overload)
    except RuntimeError:
        return None


def is_view(schema):
    """Its results are other views of an argument's memory, which it does not write."""
    return schema is not None and any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)


def base_of(name):
    return name.partition("::")[2].partition(".")[0]


def does_work(name, schema, movement_is_work):
    base = base_of(name)
    if name.startswith("aten::") and (base in _HARMLESS or is_view(schema)):
        return False
    return movement_is_work or not (name.startswith("aten::") and base in _MOVEMENT)


def namespace_of(name):
    return name.partition("::")[0]


def own_operators(folder):
    """Asked before the candidate is loaded: a function that tells whether an operator is one of its extensions in `folder`, in a namespace that
    PyTorch does not have. What such an operator calls of PyTorch's is taken away like everywhere."""
    known = frozenset(map(namespace_of, torch._C._dispatch_get_all_op_names()))
    prefix = f"debug: registered at {folder}/"

    def is_own(name):
        return namespace_of(name) not in known and any(line.startswith(prefix) for line in torch._C._dispatch_dump(name).splitlines())

    return is_own


def take_away(report, movement_is_work, is_own):
    """From here on every operator that does work calls `report` with its name, on all threads; the candidate's own stay. It cannot be undone:
    nothing refers to the registrations any more. PyTorch's own kernels below them are confine.py's matter."""
    registrations = torch._C._dispatch_get_registrations_for_dispatch_key
    for key in (*_COMPUTING_KEYS, *_OTHER_LAYOUTS, "CompositeImplicitAutograd"):
        for name in registrations(key):
            namespace = namespace_of(name)
            if namespace in _LEFT_ALONE or is_own(name):
                continue
            if key == "CompositeImplicitAutograd" and not base_of(name).startswith(_COMPUTING_COMPOSITES):
                continue
            if key not in _OTHER_LAYOUTS and not does_work(name, _schema_of(name), movement_is_work):
                continue
            where = key if key in _OTHER_LAYOUTS else "CPU"
            _leak(namespace, name, where, report)


def _leak(namespace, name, key, report):
    library = torch._C._dispatch_library("IMPL", namespace, key, __file__, 0)
    library.impl(name.partition("::")[2], key, lambda *_arguments, **_named: report(name))
    _keep_for_ever(ctypes.py_object(library))


def line_in(file, frame=None):
    """The innermost line of that file that is being executed; 0: none."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back
    return 0


class Watch(TorchDispatchMode):
    """What PyTorch's operators do while it is in force: calls, time and line of each that does work, and of what moves data."""

    def __init__(self, file, is_own):
        super().__init__()
        self._file, self._is_own, self._clock = file, is_own, time.perf_counter_ns
        self.used = {}
        self.marks = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        begin = self._clock()
        result = operator(*args, **(kwargs or {}))
        took = self._clock() - begin
        name = operator._schema.name
        if name == "aten::empty" and not args[0]:
            self.marks += 1
        if does_work(name, operator._schema, True) and not self._is_own(operator.name()):
            entry = self.used.setdefault(name, {"name": name, "calls": 0, "nanoseconds": 0, "line": line_in(self._file),
                                                "movement": base_of(name) in _MOVEMENT})
            entry["calls"] += 1
            entry["nanoseconds"] += took
        return result

    def mark(self):
        """An operator of our own: it is counted where the watch is still in force."""
        before = self.marks
        torch.empty(())
        return self.marks == before + 1
