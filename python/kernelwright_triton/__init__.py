"""Triton kernels on Kernelwright's virtual GPU: compiled for a GPU that is not here, run on the CPU over CPU tensors, checked and counted.

    import kernelwright_triton
    kernelwright_triton.activate(gpu="a100", checks=True)

From then on `@triton.jit`, `@triton.autotune` and the rest work as written. What a kernel does wrong is a VirtualGpuError.
"""

from .errors import Finding, SetupError, UnsupportedError, VirtualGpuError
from .session import activate, active_device, deactivate, reachable

__all__ = ["Finding", "SetupError", "UnsupportedError", "VirtualGpuError", "activate", "active_device", "deactivate", "reachable"]
