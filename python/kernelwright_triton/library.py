"""The virtual GPU's C interface (src/cudart/ptx_host.h) as Python objects."""

import ctypes
import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path

from .errors import Finding, SetupError, UnsupportedError, VirtualGpuError

FINDINGS, PRINTED, FAILED = 1, 2, 4  # bits that kw_vgpu_launch answers

_FUNCTIONS = {
    "kw_vgpu_text": (ctypes.c_void_p, []),
    "kw_vgpu_open": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]),
    "kw_vgpu_close": (None, [ctypes.c_void_p]),
    "kw_vgpu_set": (None, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_double]),
    "kw_vgpu_describe": (ctypes.c_void_p, [ctypes.c_void_p]),
    "kw_vgpu_load": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]),
    "kw_vgpu_unload": (None, [ctypes.c_void_p]),
    "kw_vgpu_parameters": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]),
    "kw_vgpu_launch": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t,
                                      ctypes.c_char_p, ctypes.c_size_t]),
    "kw_vgpu_take_printed": (ctypes.c_size_t, [ctypes.c_void_p]),
    "kw_vgpu_counters": (ctypes.c_void_p, [ctypes.c_void_p]),
    "kw_vgpu_estimate": (ctypes.c_double, [ctypes.c_void_p]),
}


def library_path():
    """$KERNELWRIGHT_VGPU_LIBRARY, else what was built in the folder that this package is part of."""
    named = os.environ.get("KERNELWRIGHT_VGPU_LIBRARY", "")
    if named:
        if not Path(named).is_file():
            raise SetupError(f"KERNELWRIGHT_VGPU_LIBRARY is '{named}', which is no file", "set it to libkw_cudart.so, or unset it")
        return named
    root = Path(__file__).resolve().parents[2]
    for build in ("release", "dev"):
        found = root / "build" / build / "lib" / "libkw_cudart.so"
        if found.is_file():
            return str(found)
    raise SetupError("libkw_cudart.so, the virtual GPU, is not built", "make build, or set KERNELWRIGHT_VGPU_LIBRARY to the file")


def _load_library():
    path = library_path()
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise SetupError(f"the virtual GPU cannot be loaded: {error}", "make build") from None
    return library


class Device:
    """A virtual GPU: loads kernels, launches them, says what it found and counted."""

    def __init__(self, gpu, report_file="", checks=True, counters=False, threads=0, timeout=0.0):
        self.library = _load_library()
        self.handle = self.library.kw_vgpu_open(os.fsencode(gpu), os.fsencode(report_file))
        if not self.handle:
            message, _, hint = self.text().partition("\n  try: ")
            raise SetupError(message, hint)
        self.library.kw_vgpu_describe(self.handle)
        self.facts = json.loads(self.text())
        self.checks, self.counters, self.threads, self.timeout = checks, counters, threads, timeout
        self.estimated_seconds = None  # summed up while estimating() is there
        self._lock = threading.RLock()
        self._apply(counters, threads)

    def text(self):
        return ctypes.string_at(self.library.kw_vgpu_text()).decode("utf-8", "replace")

    @property
    def capability(self):
        major, minor = self.facts["capability"]
        return major * 10 + minor

    def _apply(self, counters, threads):
        self.library.kw_vgpu_set(self.handle, int(self.checks), int(counters), threads, self.timeout)

    def configure(self, checks, counters, threads, timeout):
        self.checks, self.counters, self.threads, self.timeout = checks, counters, threads, timeout
        self._apply(counters, threads)

    @contextmanager
    def estimating(self):
        """Adds up the estimates of the launches inside, but for those of another one of these inside of it. On one thread, so that
        the caches' counts are the same each time."""
        with self._lock:
            outer, self.estimated_seconds = self.estimated_seconds, 0.0
            self._apply(True, 1)
            try:
                yield self
            finally:
                self.estimated_seconds = outer
                if outer is None:
                    self._apply(self.counters, self.threads)

    def last_counters(self):
        """What the last launch with counters did, as `vgpu profile --json` has it."""
        if not self.library.kw_vgpu_counters(self.handle):
            raise SetupError("no launch was counted", "activate(counters=True)")
        return json.loads(self.text())

    def take_printed(self):
        size = self.library.kw_vgpu_take_printed(self.handle)
        return ctypes.string_at(self.library.kw_vgpu_text(), size).decode("utf-8", "replace")


class Kernel:
    """One kernel of one module of PTX, on one device."""

    def __init__(self, device, name, ptx, facts):
        self.device, self.name, self.ptx, self.facts = device, name, ptx, facts
        library = device.library
        self.handle = library.kw_vgpu_load(device.handle, ptx.encode(), name.encode(), facts["registers"])
        if not self.handle:
            raise UnsupportedError(f"'{name}' does not run on the virtual GPU: {device.text()}")
        count = library.kw_vgpu_parameters(self.handle, None, None, 0)
        offsets, sizes = (ctypes.c_uint32 * count)(), (ctypes.c_uint32 * count)()
        library.kw_vgpu_parameters(self.handle, offsets, sizes, count)
        self.parameters = list(zip(offsets, sizes))

    def launch(self, shape, shared, parameters, ranges, range_count, printed):
        """shape and ranges packed as C has them; printed takes the text of tl.device_print. Raises what was found."""
        device = self.device
        library = device.library
        answer = library.kw_vgpu_launch(self.handle, shape, shared, parameters, len(parameters), ranges, range_count)
        if answer:
            text = device.text()
            if answer & PRINTED:
                printed(device.take_printed())
            if answer & FAILED:
                raise UnsupportedError(f"'{self.name}' could not be launched: {text}")
            if answer & FINDINGS:
                raise VirtualGpuError(Finding.from_json(each) for each in json.loads(text))
        if device.estimated_seconds is not None:
            device.estimated_seconds += library.kw_vgpu_estimate(device.handle)

    def unload(self):
        if self.handle:
            self.device.library.kw_vgpu_unload(self.handle)
            self.handle = None
