"""Times the module itself, eager or compiled, on sets that materialise wrote. Only the call is inside the clock; the
allocation of its outputs is part of the call."""

import contextlib
import gc
import itertools
import pathlib
import sys
import time
from dataclasses import dataclass

import torch

from kw_oracle.device import GpuPlace
from kw_oracle.errors import OracleError, bad_request, one_line, unsupported
from kw_oracle.loading import blamed_on, load_problem
from kw_oracle.pinning import one_thread_a_core, openmp_libraries
from kw_oracle.stored_set import stored_inputs, stored_subject
from kw_oracle.subject import Subject
from kw_oracle.tensors import in_shared_memory

_WARMING_CALLS = 3


@dataclass
class Baseline:
    subject: Subject
    call: object
    arguments: list[list]
    threads: int
    outputs_alive: int
    default_dtype: torch.dtype
    openmp: list  # the libraries whose threads its calls use
    gpu: GpuPlace | None  # None: on the processor

    def settings(self):
        return self.gpu.precision() if self.gpu else contextlib.nullcontext()


class Baselines:
    def __init__(self):
        self.loaded_: dict[int, Baseline] = {}
        self.handles_ = itertools.count(1)

    def modules(self) -> set[str]:
        return {baseline.subject.problem.module.__name__ for baseline in self.loaded_.values()}

    def load(self, file: str, folders: list[str], mode: str, threads: int, progress, outputs_alive: int = 0,
             gpu: GpuPlace | None = None) -> dict:
        """`outputs_alive` of 0: one more than folders."""
        problem = load_problem(file)
        default_dtype = torch.get_default_dtype()
        paths = [pathlib.Path(folder) for folder in folders]
        subject = stored_subject(problem, paths[0])
        stored = [stored_inputs(subject, path) for path in paths]
        # A kernel's inputs are pages of a file in memory: both sides read through the same kind of pages.
        arguments = [each.mapped(gpu.tensor if gpu else in_shared_memory).call() for each in stored]
        if gpu:
            gpu.move(subject)

        torch.set_num_threads(threads)
        call, seconds = subject.model, 0.0
        if mode == "compile":
            progress("compiling with torch.compile")
            begin = time.perf_counter()
            with gpu.precision() if gpu else contextlib.nullcontext():
                call = _compiled(subject, arguments)
            seconds = time.perf_counter() - begin
        else:
            with blamed_on(problem, "forward()"), torch.no_grad():
                call(*arguments[0])
        gc.collect()
        handle = next(self.handles_)
        self.loaded_[handle] = Baseline(subject, call, arguments, threads, outputs_alive or len(folders) + 1, default_dtype,
                                         openmp_libraries(), gpu)
        return {"handle": handle, "compile_seconds": seconds}

    def block(self, handle: int, order: list, warmup: int) -> dict:
        baseline = self.find(handle)
        count = len(baseline.arguments)
        if not order or not all(type(index) is int and 0 <= index < count for index in order):
            raise bad_request(f"'order' has to be a list of folder numbers from 0 to {count - 1}, not {order!r}"[:300])
        if warmup < 0:
            raise bad_request(f"'warmup' is {warmup}", "use 0 or more")
        torch.set_num_threads(baseline.threads)
        torch.set_default_dtype(baseline.default_dtype)
        with blamed_on(baseline.subject.problem, "forward()"), one_thread_a_core(baseline.threads, baseline.openmp), \
                baseline.settings():
            return {"seconds": (_timed_on_gpu if baseline.gpu else _timed)(baseline, order, warmup)}

    def unload(self, handle: int) -> dict:
        self.find(handle)
        del self.loaded_[handle]
        if not self.loaded_ and "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        gc.collect()
        return {}

    def find(self, handle: int) -> Baseline:
        if handle not in self.loaded_:
            raise bad_request(f"there is no baseline with the handle {handle}", "use one that baseline_load gave")
        return self.loaded_[handle]


def _compiled(subject: Subject, arguments: list[list]):
    import torch._inductor.config

    torch._inductor.config.compile_threads = 1  # no pool of worker processes to outlive us
    compiled = torch.compile(subject.model)
    try:
        with torch.no_grad():
            for index in range(max(_WARMING_CALLS, len(arguments))):
                compiled(*arguments[index % len(arguments)])
    except OracleError:
        raise
    except Exception as error:  # noqa: BLE001: the compiler's errors are of many types
        raise unsupported(f"{subject.problem.path}: torch.compile failed ({type(error).__name__}: "
                          f"{one_line(error, 200)})", "use the eager baseline") from None
    return compiled


def _timed(baseline: Baseline, order: list[int], warmup: int) -> list[float]:
    call, arguments, clock = baseline.call, baseline.arguments, time.perf_counter_ns
    kept = [None] * baseline.outputs_alive
    nanoseconds = []
    gc.disable()
    try:
        with torch.no_grad():
            for turn in range(-warmup, len(order)):
                inputs = arguments[order[turn % len(order)]]
                begin = clock()
                result = call(*inputs)
                end = clock()
                kept[turn % len(kept)] = result
                if turn >= 0:
                    nanoseconds.append(end - begin)
    finally:
        gc.enable()
    return [elapsed * 1e-9 for elapsed in nanoseconds]


def _timed_on_gpu(baseline: Baseline, order: list[int], warmup: int) -> list[float]:
    kept = [None] * baseline.outputs_alive
    seconds = []
    gc.disable()
    try:
        with torch.no_grad():
            for turn in range(-warmup, len(order)):
                kept[turn % len(kept)], took = baseline.gpu.timed(baseline.call, baseline.arguments[order[turn % len(order)]])
                if turn >= 0:
                    seconds.append(took)
    finally:
        gc.enable()
    return seconds
