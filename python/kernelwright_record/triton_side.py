"""Triton under a recording: kernels are compiled as ever, and a launch is written down in place of being run.

Autotuning runs each configuration on the virtual GPU, over memory filled with random numbers, and takes the estimate for a time."""

import re
import struct

from .recording import Recording
from .refusal import Refusal
from .tensors import RecordedTensor, ScalarArgument

_device = None


def prepare(spec):
    """Triton's driver becomes the recording one, for the GPU of the spec."""
    try:
        import triton
    except ModuleNotFoundError as error:
        raise Refusal(f"the Python of the compile step has no package '{error.name}'", "run tools/setup, or pip install triton") from None
    import kernelwright_triton
    from kernelwright_triton import launcher

    global _device
    _device = kernelwright_triton.activate(gpu=spec["gpu"], checks=False, counters=False, threads=1, timeout=20)
    made = triton.runtime.driver.active
    made.launcher_cls = _recording_launcher(launcher)
    made.get_benchmarker = lambda: _benchmark


def _benchmark(call, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean", **_more):
    """Triton's do_bench: the estimate of one call on random numbers, in milliseconds."""
    import math

    recording = Recording.current
    recording.estimating, before = True, recording.estimating
    try:
        _give_contents(recording)
        with _device.estimating() as estimating:
            call()
            milliseconds = estimating.estimated_seconds * 1000 or math.nan
    except Exception as error:
        from kernelwright_triton import UnsupportedError, VirtualGpuError

        if isinstance(error, (UnsupportedError, VirtualGpuError)):
            milliseconds = math.inf  # a configuration that does not run is not chosen
        else:
            raise
    finally:
        recording.estimating = before
    if quantiles is not None:
        return [milliseconds] * len(quantiles) if len(quantiles) > 1 else milliseconds
    return [milliseconds] if return_mode == "all" else milliseconds


def _give_contents(recording):
    """Random numbers, but zeros where there are integers: they may be positions."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        for memory in list(recording.by_begin.values()):
            if getattr(memory, "filled", False):
                continue
            memory.filled = True
            dtype = memory.dtype
            if dtype.is_floating_point:
                whole = memory.storage[: memory.bytes // dtype.itemsize * dtype.itemsize].view(dtype)
                whole.copy_(torch.rand(whole.shape, dtype=torch.float32) - 0.5)
            else:
                memory.storage.zero_()


def _bytes_of(kind, value, launcher):
    code = launcher.CODES.get(kind)
    if code is None:
        raise Refusal(f"a kernel's parameter of type '{kind}' is not known", "pass tensors, numbers and constants")
    return struct.pack("=" + code, launcher.bf16_bits(value) if kind == "bf16" else value).hex()


def _recording_launcher(launcher):
    class RecordingLauncher(launcher.Launcher):
        def __init__(self, src, metadata):
            super().__init__(src, metadata)
            self.cooperative = bool(getattr(metadata, "launch_cooperative_grid", False))

        def _range_of(self, name, tensor):
            if not isinstance(tensor, RecordedTensor):
                return super()._range_of(name, tensor)
            memory = tensor.memory
            return launcher.RANGE.pack(memory.begin, memory.bytes, self._name_address(name))

        def _pointer(self, name, value):
            value = getattr(value, "base", value) if not hasattr(value, "data_ptr") else value  # triton's reinterpret
            if value is None:
                return {"bytes": "00" * 8}
            if not isinstance(value, RecordedTensor):
                raise Refusal(f"'{name}' is no tensor of the problem, and not made in launch()",
                              "constants of the module are numbers; make tensors inside of launch()", "forbidden")
            return {**value.memory.place(), "offset": value.byte_offset}

        def __call__(self, grid_x, grid_y, grid_z, stream, kernel, kernel_metadata, launch_metadata, enter_hook, exit_hook, *args):
            recording = Recording.current
            if recording.estimating:
                return super().__call__(grid_x, grid_y, grid_z, stream, kernel, kernel_metadata, launch_metadata, enter_hook,
                                        exit_hook, *args)
            if grid_x * grid_y * grid_z <= 0:
                return None
            names, kinds, values = self.arguments(args)
            arguments = []
            for name, kind, value in zip(names, kinds, values):
                if kind[0] == "*":
                    arguments.append(self._pointer(name, value))
                elif isinstance(value, ScalarArgument):
                    arguments.append({"scalar": value.index, "type": kind})
                else:
                    arguments.append({"bytes": _bytes_of(kind, value, launcher)})
            programs = grid_x * self.num_ctas * grid_y * grid_z
            for size in self.scratch[: len(kernel.parameters) - len(arguments)]:
                arguments.append(self._scratch_memory(size * programs) if size else {"bytes": "00" * 8})
            module = recording.module(kernel, kernel.name, kernel.ptx, "ptx", kernel.facts)
            recording.launch(module, (grid_x * self.num_ctas, grid_y, grid_z), (32 * self.num_warps, 1, 1), self.shared, arguments,
                             self.cooperative)
            return None

        def _scratch_memory(self, size):
            import torch
            from torch.utils._python_dispatch import _disable_current_modes

            with _disable_current_modes():
                memory = Recording.current.add_memory(torch.empty(size, dtype=torch.uint8), torch.uint8)
            Recording.current.fill(memory, 0, size, 0)
            return {**memory.place(), "offset": 0}

    return RecordingLauncher


def _first_line_of(source, file):
    """Where a function begins that Triton has the source of; 0: it is not in the module."""
    import sys

    from triton.runtime.jit import JITFunction

    for each in list(vars(sys.modules["kernel"]).values()):
        for _ in range(4):  # autotuners and heuristics have the function inside
            if isinstance(each, JITFunction) or not hasattr(each, "fn"):
                break
            each = each.fn
        if isinstance(each, JITFunction) and each.src == source:
            return each.starting_line_number, each.raw_src
    return 0, []


def explain(error, file):
    """What Triton raised, as people want to read it; None: nothing is known of it."""
    from kernelwright_triton import SetupError, UnsupportedError
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import OutOfResources, PTXASError

    chain, seen = error, []
    while chain is not None and chain not in seen:
        seen.append(chain)
        chain = chain.__cause__
    for each in reversed(seen):  # the innermost call is where it is wrong
        if isinstance(each, CompilationError):
            first, raw = _first_line_of(each.src, file)
            before = next((i for i, line in enumerate(raw) if re.match(r"\s*(async\s+)?def\s", line)), 0)
            at = getattr(each.node, "lineno", 0)
            message = each.error_message or next((str(other) for other in reversed(seen) if not isinstance(other, CompilationError)), "")
            line = first + before + at - 1 if first and at else 0
            return Refusal(f"Triton does not compile the kernel: {message or each.message}".strip(), "", line=line)
    for each in reversed(seen):
        if isinstance(each, Refusal):
            return each
        if isinstance(each, OutOfResources):
            return Refusal(f"the kernel does not fit the GPU: {each}", "use smaller blocks, or fewer num_stages")
        if isinstance(each, PTXASError):
            return Refusal("ptxas refuses what Triton made: " + str(each)[-600:])
        if isinstance(each, UnsupportedError):
            return Refusal(str(each), "docs/ptx-support.md lists what the virtual GPU has")
        if isinstance(each, SetupError):
            return Refusal(each.message, each.hint)
    return None
