"""What the process gives up before it loads a candidate, so that PyTorch's kernels stay away once they have been taken: memory that becomes executable,
and PyTorch's library as a file. Neither can be undone, by native code either."""

import ctypes
import mmap
import os
import platform
import struct

import torch

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.syscall.restype = ctypes.c_long
_FIXED = 0x10
_X86 = platform.machine() == "x86_64"
_ARCHITECTURE = 0xC000003E if _X86 else 0xC00000B7
_CALLS = dict(mmap=9, mprotect=10, shmat=30, personality=135, remap_file_pages=216, seccomp=317, memfd_create=319, pkey_mprotect=329) if _X86 else \
    dict(mmap=222, mprotect=226, shmat=196, personality=92, remap_file_pages=234, seccomp=277, memfd_create=279, pkey_mprotect=288)
_EXECUTABLE, _WRITABLE, _ANONYMOUS, _SHM_EXEC = 4, 2, 0x20, 0o100000


def _library_base(library):
    """Where it is loaded: what a handle of glibc's points to begins with it. A callback of ctypes would leave memory that is executable and writable."""
    return ctypes.c_uint64.from_address(ctypes.CDLL(library)._handle).value


def _filter():
    """In the kernel's own language: number of the call at 0, architecture at 4, arguments from 16 on (their low halves)."""
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | 1
    lines = [(load, 0, 0, 4), (equal, 1, 0, _ARCHITECTURE), (answer, 0, 0, refuse), (load, 0, 0, 0), (0x35, 0, 1, 0x40000000), (answer, 0, 0, refuse)]
    for name in ("memfd_create", "personality", "remap_file_pages"):
        lines += [(equal, 0, 1, _CALLS[name]), (answer, 0, 0, refuse)]
    for name, argument, bits in (("mprotect", 2, _EXECUTABLE), ("pkey_mprotect", 2, _EXECUTABLE), ("shmat", 2, _SHM_EXEC)):
        lines += [(equal, 0, 4, _CALLS[name]), (load, 0, 0, 16 + 8 * argument), (any_bit, 0, 1, bits), (answer, 0, 0, refuse), (answer, 0, 0, allow)]
    lines += [(equal, 0, 7, _CALLS["mmap"]), (load, 0, 0, 32), (any_bit, 0, 4, _EXECUTABLE), (any_bit, 2, 0, _WRITABLE), (load, 0, 0, 40),
              (any_bit, 0, 1, _ANONYMOUS), (answer, 0, 0, refuse), (answer, 0, 0, allow), (answer, 0, 0, allow)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines), len(lines)


def _no_new_executable_memory():
    code, count = _filter()
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=H6xQ", count, ctypes.addressof(held))
    set_mode_filter, synchronise = 1, 1
    if _LIBC.prctl(38, 1, 0, 0, 0) != 0 or _LIBC.syscall(_CALLS["seccomp"], set_mode_filter, synchronise, program) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls can be installed")


def _readable(library):
    """All that there is but for the library: its folder's other entries, the entries beside that folder, and so on to the root."""
    path, others = library, []
    while path != "/":
        folder = os.path.dirname(path)
        others += [os.path.join(folder, name) for name in os.listdir(folder) if os.path.join(folder, name) != path]
        path = folder
    return others


def _library_out_of_reach(library, writes):
    """By Landlock, and new files with it; False where this kernel has none, or where the sandbox is Landlock itself and no folder can be listed."""
    create, add, restrict = 444, 445, 446
    abi = _LIBC.syscall(create, None, 0, 1)
    try:
        others = _readable(library)
    except OSError:
        return False
    if abi < 1:
        return False
    read, written = 1 << 2, 1 << 1 | 1 << 8
    handled = read if writes else read | written
    rules = _LIBC.syscall(create, struct.pack("=Q", handled), 8, 0)
    if rules < 0:
        return False
    for path in others:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        _LIBC.syscall(add, rules, 1, struct.pack("=Qi", read, place), 0)
        os.close(place)
    if not writes and os.path.exists("/dev/null"):
        place = os.open("/dev/null", os.O_PATH | os.O_CLOEXEC)
        _LIBC.syscall(add, rules, 1, struct.pack("=Qi", read | 1 << 1, place), 0)
        os.close(place)
    done = _LIBC.syscall(restrict, rules, 0) == 0
    os.close(rules)
    return done


class Blank:
    """PyTorch's code without its kernels, kept open until it is put in place."""

    def __init__(self, told, writes):
        self._address = _library_base(told["library"]) + told["address"]
        self._bytes, self._file = told["bytes"], os.open(told["code"], os.O_RDONLY | os.O_CLOEXEC)
        _no_new_executable_memory()
        _library_out_of_reach(os.path.realpath(told["library"]), writes)

    def put_in_place(self):
        torch.set_num_threads(torch.get_num_threads())  # what it asks of the BLAS and of the processor, it has asked
        torch.backends.cpu.get_cpu_capability()
        where = _LIBC.mmap(self._address, self._bytes, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | _FIXED, self._file, 0)
        if where != self._address:
            raise MemoryError("PyTorch's kernels could not be taken away")
        os.close(self._file)
