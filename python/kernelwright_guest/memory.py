"""The evaluator's tensors in this process: memory that can be read and not written, with inaccessible pages around each buffer. The layout is
that of src/runner/protocol.h."""

import ctypes
import mmap
import os

import torch

_GUARD = 256 << 10
_NO_ACCESS = 0
_FIXED, _NO_RESERVE = 0x10, 0x4000
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
    """`arguments` are the runner's: role, bytes, region, lead. Weights come first in the file, then the inputs of each slot."""

    def __init__(self, spec, descriptor):
        self.arguments = spec["arguments"]
        self._shared = spec["shared_inputs"]
        self._descriptor = descriptor
        offset, self.regions = 0, [[] for _ in self.arguments]
        for roles, copies in ((("weight",), 1), (("input", "scalar"), spec["slots"])):
            for _ in range(copies):
                for number, argument in enumerate(self.arguments):
                    if argument["role"] in roles:
                        self.regions[number].append(self._map(argument["region"], offset))
                        offset += argument["region"]

    def _map(self, size, offset):
        around = _mapped(None, size + 2 * _GUARD, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE, -1, 0)
        begin = around + _GUARD
        if self._shared:
            return _mapped(begin, size, mmap.PROT_READ, mmap.MAP_SHARED | _FIXED, self._descriptor, offset)
        # Anonymous memory gets huge pages where PyTorch's own does.
        _mapped(begin, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED, -1, 0)
        into, done = memoryview((ctypes.c_char * size).from_address(begin)).cast("B"), 0
        while done < size:
            got = os.preadv(self._descriptor, [into[done:done + (1 << 28)]], offset + done)
            if got <= 0:
                raise MemoryError("the tensors could not be read")
            done += got
        _LIBC.mprotect(begin, size, mmap.PROT_READ)
        return begin

    def tensor(self, number, slot, described):
        """The argument as forward() sees it: a tensor with its strides over that memory, or a Python number."""
        begin = self.regions[number][slot] + self.arguments[number]["lead"]
        dtype = getattr(torch, described["dtype"])
        if described["kind"] == "scalar":
            kind = {"bool": ctypes.c_bool, "int64": ctypes.c_int64}.get(described["dtype"], ctypes.c_double)
            return kind.from_address(begin).value
        if described["span"] == 0:
            return torch.empty_strided(described["shape"], described["strides"], dtype=dtype)
        size = self.arguments[number]["bytes"]
        flat = torch.frombuffer((ctypes.c_char * size).from_address(begin), dtype=dtype)
        return flat.as_strided(described["shape"], described["strides"])
