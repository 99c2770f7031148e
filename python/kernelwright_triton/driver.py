"""Triton's driver of the virtual GPU: what Triton asks a device for, answered from a data sheet."""

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.backends.nvidia.driver import ty_to_cpp

from .errors import UnsupportedError
from .estimate import estimator
from .launcher import Launcher
from .library import Kernel
from .stages import MAGIC, unpackage


class Utils:
    """What Triton calls driver.active.utils."""

    def __init__(self, device):
        self._device = device
        self._modules = {}

    def get_device_properties(self, _device=None):
        facts = self._device.facts
        bus = facts["memory_bus_bits"]
        return {"max_shared_mem": facts["shared_bytes"], "max_num_regs": facts["registers"],
                "multiprocessor_count": facts["multiprocessors"], "warpSize": 32, "sm_clock_rate": facts["clock_khz"],
                # Two transfers a clock, as Triton's own formulas have it.
                "mem_clock_rate": int(facts["memory_gb_per_s"] * 8e6 / 2 / bus), "mem_bus_width": bus}

    def load_binary(self, name, binary, _shared, _device):
        if not isinstance(binary, bytes) or not binary.startswith(MAGIC):
            raise UnsupportedError(f"'{name}' was compiled before kernelwright_triton.activate(): call it first")
        ptx, facts = unpackage(binary)
        kernel = Kernel(self._device, name, ptx, facts)
        return kernel, kernel, facts["registers"], facts["stack_bytes"] // 4, self._device.facts["threads"]

    def unload_module(self, kernel):
        kernel.unload()

    def set_printf_fifo_size(self, _bytes):
        pass  # what kernels print is never cut off


class Interface:
    """What Triton asks torch.cuda for, where all work is done at once."""

    def __init__(self, index, capability):
        self._index, self._capability = index, capability

    def current_device(self):
        return self._index

    def synchronize(self, _device=None):
        pass

    def get_device_capability(self, _device=None):
        return divmod(self._capability, 10)


class VirtualGpuDriver(DriverBase):
    """`index` tells devices apart: Triton keeps compiled kernels by it."""

    def __init__(self, device, index):
        super().__init__()
        self.device, self._index = device, index
        self.utils = Utils(device)
        self.launcher_cls = Launcher

    @classmethod
    def is_active(cls):
        return False  # never chosen by itself: activate() does

    def map_python_to_cpp_type(self, ty):
        return ty_to_cpp(ty)

    def get_current_target(self):
        return GPUTarget("cuda", self.device.capability, 32)

    def get_current_device(self):
        return self._index

    def set_current_device(self, _index):
        pass

    def get_current_stream(self, _device=None):
        return 0

    def get_device_capability(self, _device=None):
        return divmod(self.device.capability, 10)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def get_device_interface(self):
        return Interface(self._index, self.device.capability)

    def get_benchmarker(self):
        return estimator(self.device)

    def get_empty_cache_for_benchmark(self):
        return torch.empty(0, dtype=torch.int32)

    def clear_cache(self, cache):
        pass
