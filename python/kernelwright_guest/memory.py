"""The evaluator's tensors in this process: memory that can be read and not written, with inaccessible pages around each buffer. The layout is
that of src/runner/protocol.h. There is one place for inputs, where one set after the other is shown; until the first there are zeros."""

import ctypes
import mmap
import os

import torch

_GUARD = 256 << 10
_NO_ACCESS = 0
_FIXED, _NO_RESERVE, _POPULATE = 0x10, 0x4000, 0x8000
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _mapped(address, size, protection, flags, descriptor, offset):
    found = _LIBC.mmap(address, size, protection, flags, descriptor, offset)
    if found is None or found == ctypes.c_void_p(-1).value:
        raise MemoryError(f"no memory for {size} bytes of tensors: {os.strerror(ctypes.get_errno())}")
    return found


class Buffers:
    """`arguments` are the runner's: role, bytes, region, lead. The descriptor's file has the weights."""

    def __init__(self, spec, descriptor):
        self.arguments = spec["arguments"]
        self._shared = spec["shared_weights"]
        self._descriptor = descriptor
        self.regions = [[] for _ in self.arguments]
        self._inputs = []  # argument's number, offset in the file of a set
        offsets = {"weight": 0, "input": 0}
        for number, argument in enumerate(self.arguments):
            role = "input" if argument["role"] == "scalar" else argument["role"]
            if role not in offsets:
                continue
            begin = self._reserve(argument["region"])
            if role == "weight":
                self._map(begin, argument["region"], offsets[role])
            else:
                self._inputs.append((number, offsets[role]))
            self.regions[number].append(begin)
            offsets[role] += argument["region"]
        self.take_away()

    def bring(self, descriptor):
        """Shows a set of inputs in place of the one before; its pages are there afterwards."""
        for number, offset in self._inputs:
            if size := self.arguments[number]["region"]:
                _mapped(self.regions[number][0], size, mmap.PROT_READ, mmap.MAP_SHARED | _FIXED | _POPULATE, descriptor, offset)

    def take_away(self):
        for number, _offset in self._inputs:
            if size := self.arguments[number]["region"]:
                _mapped(self.regions[number][0], size, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED | _NO_RESERVE, -1, 0)

    @staticmethod
    def _reserve(size):
        return _GUARD + _mapped(None, size + 2 * _GUARD, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE, -1, 0)

    def _map(self, begin, size, offset):
        if not size:
            return
        if self._shared:
            _mapped(begin, size, mmap.PROT_READ, mmap.MAP_SHARED | _FIXED, self._descriptor, offset)
            return
        # Anonymous memory gets huge pages where PyTorch's own does.
        _mapped(begin, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED, -1, 0)
        into, done = memoryview((ctypes.c_char * size).from_address(begin)).cast("B"), 0
        while done < size:
            got = os.preadv(self._descriptor, [into[done:done + (1 << 28)]], offset + done)
            if got <= 0:
                raise MemoryError("the tensors could not be read")
            done += got
        _LIBC.mprotect(begin, size, mmap.PROT_READ)

    def tensor(self, number, described):
        """The argument as forward() sees it: a tensor with its strides over that memory, or a Python number."""
        begin = self.regions[number][0] + self.arguments[number]["lead"]
        dtype = getattr(torch, described["dtype"])
        if described["kind"] == "scalar":
            kind = {"bool": ctypes.c_bool, "int64": ctypes.c_int64}.get(described["dtype"], ctypes.c_double)
            return kind.from_address(begin).value
        if described["span"] == 0:
            return torch.empty_strided(described["shape"], described["strides"], dtype=dtype)
        size = self.arguments[number]["bytes"]
        flat = torch.frombuffer((ctypes.c_char * size).from_address(begin), dtype=dtype)
        return flat.as_strided(described["shape"], described["strides"])
