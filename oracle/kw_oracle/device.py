"""A GPU that a baseline runs on: the module and its inputs there, each call between two events on the stream, with caches that
hold nothing of its inputs. $KERNELWRIGHT_TORCH_DEVICE=cpu lets the processor stand in for it, with its own clock, in tests."""

import contextlib
import os
import time

import torch

from kw_oracle.errors import unsupported
from kw_oracle.subject import Subject
from kw_oracle.tensors import memory_of, with_memory


class _HostEvent:
    """What torch.cuda.Event offers, by the processor's clock."""

    def record(self) -> None:
        self.at_ = time.perf_counter_ns()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: "_HostEvent") -> float:
        return (end.at_ - self.at_) * 1e-6


class GpuPlace:
    def __init__(self, name: str, flush_bytes: int, tf32: bool):
        stand_in = os.environ.get("KERNELWRIGHT_TORCH_DEVICE")
        self.device = torch.device(stand_in or name)
        self.tf32_ = tf32
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise unsupported(f"PyTorch {torch.__version__} cannot use the GPU here",
                              "install a PyTorch with CUDA that goes with the driver, or name another GPU with --machine for an estimate")
        event = _HostEvent if self.device.type == "cpu" else lambda: torch.cuda.Event(enable_timing=True)
        self.start_, self.end_ = event(), event()
        self.flushed_ = torch.empty(max(flush_bytes, 1), dtype=torch.uint8, device=self.device)
        self.pattern_ = 0

    def tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same values and strides there."""
        return with_memory(memory_of(tensor).to(self.device), tensor)

    def move(self, subject: Subject) -> None:
        subject.model.to(self.device)
        subject.install({entry.name: self.tensor(entry.get()) for entry in subject.entries
                         if entry.get().device.type != self.device.type})

    @contextlib.contextmanager
    def precision(self):
        """Products of floats are exact to float32, unless the contract is tf32: cuDNN's own default is another."""
        convolutions, products = torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()
        torch.backends.cudnn.allow_tf32 = self.tf32_
        torch.set_float32_matmul_precision("high" if self.tf32_ else "highest")
        try:
            yield
        finally:
            torch.backends.cudnn.allow_tf32 = convolutions
            torch.set_float32_matmul_precision(products)

    def timed(self, call, inputs: list) -> tuple[object, float]:
        """The result and the seconds. Nothing waits for the flush: the host prepares the call beside it, as in a busy program."""
        self.pattern_ = (self.pattern_ + 1) % 256
        self.flushed_.fill_(self.pattern_)
        self.start_.record()
        result = call(*inputs)
        self.end_.record()
        self.end_.synchronize()
        return result, self.start_.elapsed_time(self.end_) * 1e-3
