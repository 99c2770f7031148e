"""Triton in ModelNew: kernels run on the virtual GPU over CPU tensors, and where the file says 'cuda' these are meant."""

import ctypes
import os

import torch
from torch.overrides import TorchFunctionMode


def _as_cpu(value):
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and value.partition(":")[0] == "cuda" else value


class VirtualCuda(TorchFunctionMode):
    """The virtual GPU's memory is the CPU's: a tensor is there already, and one that is made for 'cuda' is made there."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if function is torch.Tensor.cuda:
            return args[0]
        if name == "__get__" and getattr(function, "__self__", None) is torch.Tensor.is_cuda:
            return True
        kwargs = {key: _as_cpu(value) if key == "device" else value for key, value in (kwargs or {}).items()}
        if function is torch.Tensor.to:
            args = tuple(_as_cpu(value) for value in args)
        return function(*args, **kwargs)


class Device:
    """What the virtual GPU says of one order: its findings are exceptions, its counts are read from outside."""

    def __init__(self, report):
        self._report, self._held = report, None

    def begin(self):
        if os.path.exists(self._report):
            os.truncate(self._report, 0)

    def end(self):
        text = b""
        if os.path.exists(self._report):
            with open(self._report, "rb") as file:
                text = file.read()
        self._held = ctypes.create_string_buffer(text, max(len(text), 1))
        return {"error": 0, "error_name": "", "unwritten": [], "to_host": 0, "to_device": 0, "host_allocations": 0,
                "report": [ctypes.addressof(self._held), len(text)]}


def activate(settings):
    import kernelwright_triton

    report = os.path.join(os.environ.get("TMPDIR", "/tmp"), "launches.jsonl")
    os.environ["KERNELWRIGHT_VGPU_REPORT"] = report
    kernelwright_triton.activate(gpu=settings["gpu"], checks=settings["checks"], counters=settings["counters"])
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.is_available = lambda: True
    torch.cuda.current_device = lambda: 0
    VirtualCuda().__enter__()
    return Device(report)
