"""Which virtual GPU this process uses."""

import os
from contextlib import contextmanager

from .errors import SetupError
from .library import Device

_devices = {}  # by sheet: kernels that were loaded stay with their device
_before = None  # what was active, and Triton's own functions


def _import_triton():
    for package in ("torch", "triton"):
        try:
            __import__(package)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            raise SetupError(f"this Python has no package '{package}'",
                             f"pip install {package}, or use the project's .venv, which tools/setup makes") from None
    import triton

    if not hasattr(triton.knobs.runtime, "add_stages_inspection_hook"):
        raise SetupError(f"Triton {triton.__version__} is too old", "pip install 'triton>=3.5'")
    return triton


def _switch(name, default):
    text = os.environ.get(name, "")
    if text not in ("", "0", "1"):
        raise SetupError(f"{name} is '{text}'", "set it to 0 or 1")
    return default if text == "" else text == "1"


def _number(name, kind):
    text = os.environ.get(name, "") or "0"
    try:
        value = kind(text)
        if value >= 0:
            return value
    except ValueError:
        pass
    raise SetupError(f"{name} is '{text}'", "set it to a number, 0 or more")


def activate(gpu=None, checks=None, counters=None, threads=None, timeout=None):
    """Triton compiles for the GPU of a data sheet and launches on the virtual GPU from now on. Gives the device.

    gpu: "a100" (default), "h100", ..., or the path of a .json file. checks: memory, races and barriers. counters: count what
    launches do. threads: of the host, 0 for all cores. timeout: seconds of one launch, 0 for none. What is left out comes from
    the variables KERNELWRIGHT_VGPU_GPU, _CHECKS, _COUNTERS, _THREADS and _DEADLINE; KERNELWRIGHT_VGPU_REPORT names a file for
    JSON lines about every launch."""
    triton = _import_triton()
    gpu = gpu or os.environ.get("KERNELWRIGHT_VGPU_GPU") or "a100"
    checks = _switch("KERNELWRIGHT_VGPU_CHECKS", True) if checks is None else bool(checks)
    counters = _switch("KERNELWRIGHT_VGPU_COUNTERS", False) if counters is None else bool(counters)
    threads = _number("KERNELWRIGHT_VGPU_THREADS", int) if threads is None else threads
    timeout = _number("KERNELWRIGHT_VGPU_DEADLINE", float) if timeout is None else timeout
    device = _devices.get(gpu)
    if device is None:
        device = _devices[gpu] = Device(gpu, os.environ.get("KERNELWRIGHT_VGPU_REPORT", ""))
    device.configure(checks, counters, threads, timeout)

    from .driver import VirtualGpuDriver
    from .estimate import do_bench_for_users
    from .stages import stages_hook

    global _before
    if _before is None:
        _before = (triton.runtime.driver._active, triton.knobs.runtime.add_stages_inspection_hook, triton.testing.do_bench)
    index = list(_devices).index(gpu)
    triton.runtime.driver.set_active(VirtualGpuDriver(device, index))
    triton.knobs.runtime.add_stages_inspection_hook = stages_hook
    triton.testing.do_bench = do_bench_for_users(device)
    return device


def active_device():
    """The device of the last activate(); None where there is none."""
    if _before is None:
        return None
    import triton

    return getattr(triton.runtime.driver._active, "device", None)


def deactivate():
    """Triton's own driver again."""
    global _before
    if _before is None:
        return
    import triton

    triton.runtime.driver._active, triton.knobs.runtime.add_stages_inspection_hook, triton.testing.do_bench = _before
    _before = None


@contextmanager
def reachable(**tensors):
    """Kernels launched inside may also access these tensors, whose addresses they find in memory: tables of pointers."""
    from .launcher import Launcher

    added = {name: tensor for name, tensor in tensors.items() if name not in Launcher.reachable}
    Launcher.reachable.update(added)
    try:
        yield
    finally:
        for name in added:
            Launcher.reachable.pop(name, None)
