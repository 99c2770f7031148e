"""Times the module itself, eager or compiled, on sets that materialise wrote. Only the call is inside the clock; the
allocation of its outputs is part of the call."""

import gc
import itertools
import json
import pathlib
import sys
import time
from dataclasses import dataclass

import torch

from kw_oracle.errors import OracleError, bad_request, one_line, unsupported
from kw_oracle.loading import blamed_on, load_problem
from kw_oracle.pinning import one_thread_a_core, openmp_libraries
from kw_oracle.storage import read_tensors
from kw_oracle.subject import Subject
from kw_oracle.tensors import Arguments, copy_of, span_of, with_memory

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


def _read_set(folder: pathlib.Path) -> dict:
    try:
        return json.loads((folder / "set.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise bad_request(f"{folder / 'set.json'}: cannot be read ({one_line(error)})",
                          "materialise the folder first") from None


def _owned(stored: torch.Tensor, like: torch.Tensor, path: pathlib.Path, name: str) -> torch.Tensor:
    """The stored memory in memory of our own, with the strides that forward() is used to."""
    if stored.numel() != span_of(like.shape, like.stride()) or stored.dtype != like.dtype:
        raise bad_request(f"{path}: '{name}' does not fit the problem", "materialise the folder again")
    return copy_of(with_memory(stored, like))


def _load_all(likes: dict[str, torch.Tensor], path: pathlib.Path) -> dict[str, torch.Tensor]:
    stored = read_tensors(path)
    if stored.keys() != likes.keys():
        raise bad_request(f"{path}: holds {sorted(stored)} and not {sorted(likes)}", "materialise the folder again")
    return {name: _owned(stored[name], like, path, name) for name, like in likes.items()}


def _load_inputs(subject: Subject, folder: pathlib.Path, described: dict) -> Arguments:
    given = subject.inputs(int(described.get("seed", 0)))
    values = _load_all(given.tensors(), folder / "inputs.safetensors")
    for name, number in given.scalars().items():
        stored = described.get("scalars", {}).get(name, number)
        values[name] = type(number)(stored)
    return given.with_values(values)


class Baselines:
    def __init__(self):
        self.loaded_: dict[int, Baseline] = {}
        self.handles_ = itertools.count(1)

    def modules(self) -> set[str]:
        return {baseline.subject.problem.module.__name__ for baseline in self.loaded_.values()}

    def load(self, file: str, folders: list[str], mode: str, threads: int, progress, outputs_alive: int = 0) -> dict:
        """`outputs_alive` of 0: one more than folders."""
        problem = load_problem(file)
        default_dtype = torch.get_default_dtype()
        paths = [pathlib.Path(folder) for folder in folders]
        sets = [_read_set(path) for path in paths]
        if sets[0].get("source_hash") != problem.source_hash:
            raise bad_request(f"{paths[0]}: was made from another version of {file}", "materialise the folder again")
        subject = Subject(problem, int(sets[0].get("weights_seed", 0)))
        subject.install(_load_all(subject.state(), paths[0] / "weights.safetensors"))
        arguments = [_load_inputs(subject, path, described).call() for path, described in zip(paths, sets)]

        torch.set_num_threads(threads)
        call, seconds = subject.model, 0.0
        if mode == "compile":
            progress("compiling with torch.compile")
            begin = time.perf_counter()
            call = _compiled(subject, arguments)
            seconds = time.perf_counter() - begin
        else:
            with blamed_on(problem, "forward()"), torch.no_grad():
                call(*arguments[0])
        gc.collect()
        handle = next(self.handles_)
        self.loaded_[handle] = Baseline(subject, call, arguments, threads, outputs_alive or len(folders) + 1, default_dtype,
                                         openmp_libraries())
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
        with blamed_on(baseline.subject.problem, "forward()"), one_thread_a_core(baseline.threads, baseline.openmp):
            return {"seconds": _timed(baseline, order, warmup)}

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
