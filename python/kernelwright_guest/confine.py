"""What the process gives up before it loads a candidate, so that PyTorch's kernels stay away once they have been taken: memory that becomes executable,
PyTorch's library as a file, and libraries that nothing has loaded. Where the module is built, code of files too. Nothing of it can be undone, by native
code either."""

import ctypes
import importlib
import mmap
import os
import platform
import struct
import sys
import sysconfig

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


def _libraries():
    """The shared objects that are loaded, as the linker lists them: address, name, tables, next, before."""
    at, names = ctypes.CDLL(None)._handle, []
    while at:
        _address, name, _tables, at, _before = (ctypes.c_uint64 * 5).from_address(at)
        names.append(ctypes.string_at(name).decode() if name else "")
    return [os.path.realpath(name) for name in names if name.startswith("/")]


def _import_compiled_modules():
    """Python's own: whoever imports one of them later finds it here, when no code can be loaded any more. Screens, keyboards and tests are none of ours."""
    folder = sysconfig.get_config_var("DESTSHARED") or ""
    left_out = ("_test", "_xx", "xx", "_tkinter", "_ctypes_test", "_curses", "readline", "nis", "_dbm", "_gdbm", "ossaudiodev")
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        name = file.partition(".")[0]
        if name in sys.modules or name.startswith(left_out):
            continue
        try:
            importlib.import_module(name)
        except ImportError:  # one that this machine lacks the libraries of
            pass


_LOAD, _EQUAL, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1


def _install(body):
    """A filter in the kernel's own language: number of the call at 0, architecture at 4, arguments from 16 on (their low halves)."""
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURE), (_ANSWER, 0, 0, _REFUSE), (_LOAD, 0, 0, 0), (0x35, 0, 1, 0x40000000),
             (_ANSWER, 0, 0, _REFUSE), *body]
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=H6xQ", len(lines), ctypes.addressof(held))
    set_mode_filter, synchronise = 1, 1
    if _LIBC.prctl(38, 1, 0, 0, 0) != 0 or _LIBC.syscall(_CALLS["seccomp"], set_mode_filter, synchronise, program) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls can be installed")


def _no_new_executable_memory():
    lines = []
    for name in ("memfd_create", "personality", "remap_file_pages"):
        lines += [(_EQUAL, 0, 1, _CALLS[name]), (_ANSWER, 0, 0, _REFUSE)]
    for name, argument, bits in (("mprotect", 2, _EXECUTABLE), ("pkey_mprotect", 2, _EXECUTABLE), ("shmat", 2, _SHM_EXEC)):
        lines += [(_EQUAL, 0, 4, _CALLS[name]), (_LOAD, 0, 0, 16 + 8 * argument), (_ANY_BIT, 0, 1, bits), (_ANSWER, 0, 0, _REFUSE), (_ANSWER, 0, 0, _ALLOW)]
    lines += [(_EQUAL, 0, 7, _CALLS["mmap"]), (_LOAD, 0, 0, 32), (_ANY_BIT, 0, 4, _EXECUTABLE), (_ANY_BIT, 2, 0, _WRITABLE), (_LOAD, 0, 0, 40),
              (_ANY_BIT, 0, 1, _ANONYMOUS), (_ANSWER, 0, 0, _REFUSE), (_ANSWER, 0, 0, _ALLOW), (_ANSWER, 0, 0, _ALLOW)]
    _install(lines)


def _no_new_code():
    """No library can be loaded any more, whoever finds the linker's functions, and no file's code mapped."""
    _install([(_EQUAL, 0, 3, _CALLS["mmap"]), (_LOAD, 0, 0, 32), (_ANY_BIT, 0, 1, _EXECUTABLE), (_ANSWER, 0, 0, _REFUSE), (_ANSWER, 0, 0, _ALLOW)])


def _beside(path, root):
    """All that `root` has but for `path`: its folder's other entries, the entries beside that folder, and so on."""
    others = []
    while path != root and path != "/":
        folder = os.path.dirname(path)
        others += [os.path.join(folder, name) for name in os.listdir(folder) if os.path.join(folder, name) != path]
        path = folder
    return others


def _is_below(path, folder):
    return (path + os.sep).startswith(folder.rstrip(os.sep) + os.sep)


def _readable(library, shown, own):
    """All that there is but for PyTorch's library, and but for what the system and Python's installation have: of that, what is loaded stays, and
    Python's modules, and of packages those whose names begin as `shown` says. `own` is the candidate's folder."""
    packages = os.path.dirname(os.path.dirname(os.path.dirname(library)))
    installed = [os.path.realpath(path) for path in ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", sys.base_prefix)]
    kept = _libraries() + [own, "/usr/share"]
    own_modules = [os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    for folder in own_modules:
        kept += [os.path.join(folder, each) for each in os.listdir(folder) if each not in ("site-packages", "dist-packages")]
    for path in map(os.path.realpath, filter(os.path.isdir, sys.path)):
        if path.endswith("-packages"):
            kept += [os.path.join(path, each) for each in os.listdir(path) if each.startswith(shown)]
        elif not any(_is_below(path, folder) for folder in own_modules):
            kept.append(path)
    kept += _beside(library, os.path.join(packages, "torch"))
    for path in _beside(packages, "/"):
        if not any(_is_below(os.path.realpath(path), each) for each in installed):
            kept += _beside(installed[-1], path) if _is_below(installed[-1], path) else [path]
    return [path for path in kept if not _is_below(library, path)]


def _library_out_of_reach(library, shown, own, writes):
    """By Landlock, and new files with it; False where this kernel has none, or where the sandbox is Landlock itself and no folder can be listed."""
    create, add, restrict = 444, 445, 446
    abi = _LIBC.syscall(create, None, 0, 1)
    try:
        others = _readable(library, shown, own)
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


def _load(library):
    try:
        ctypes.CDLL(library)
    except OSError:  # whoever imports it is told
        pass


class Blank:
    """PyTorch's code without its kernels, kept open until it is put in place."""

    def __init__(self, told, own, writes):
        self._address = _library_base(told["library"]) + told["address"]
        self._bytes, self._file = told["bytes"], os.open(told["code"], os.O_RDONLY | os.O_CLOEXEC)
        self._loads_later = writes  # Triton does, and what it starts
        _import_compiled_modules()
        _no_new_executable_memory()
        _library_out_of_reach(os.path.realpath(told["library"]), tuple(told["packages"]), os.path.realpath(own), writes)

    def put_in_place(self, extensions):
        if not self._loads_later:
            for folder, _folders, files in os.walk(extensions):  # what forward() imports first is loaded now
                for file in files:
                    if file.endswith(".so"):
                        _load(os.path.join(folder, file))
        torch.set_num_threads(torch.get_num_threads())  # what it asks of the BLAS and of the processor, it has asked
        torch.backends.cpu.get_cpu_capability()
        where = _LIBC.mmap(self._address, self._bytes, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | _FIXED, self._file, 0)
        if where != self._address:
            raise MemoryError("PyTorch's kernels could not be taken away")
        os.close(self._file)
        if not self._loads_later:
            _no_new_code()
