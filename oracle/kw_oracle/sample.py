"""Inputs and weights that anyone can make again from a formula, and some elements of the outputs for them in float64: a test for a kernel that is used
where there is no PyTorch."""

import math

import numpy
import torch

from kw_oracle.loading import load_problem
from kw_oracle.precision import eager_in
from kw_oracle.subject import Subject
from kw_oracle.tensors import memory_of, with_memory

ELEMENTS = 256  # of each output
_EPSILON = {"float32": 2**-23, "tf32": 2**-10, "fp16": 2**-10, "bf16": 2**-7}


def uniform(tensor: int, count: int) -> numpy.ndarray:
    """Numbers from 0 to 1, the same everywhere: splitmix64 over the tensor's number among the arguments and the element's."""
    with numpy.errstate(over="ignore"):
        z = numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15) + numpy.uint64(tensor + 1) * numpy.uint64(0xD1342543DE82EF95)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53


def _range(tensor: torch.Tensor) -> tuple[float, float] | None:
    """Where the given values lie, widened where they are all equal; None where they say nothing."""
    if tensor.numel() == 0:
        return 0.0, 0.0
    low, high = float(tensor.min()), float(tensor.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if low == high and tensor.is_floating_point():
        low, high = (-0.5, 0.5) if low == 0 else tuple(sorted((0.5 * low, 1.5 * low)))
    return low, high


def _drawn(number: int, given: torch.Tensor, low: float, high: float) -> torch.Tensor:
    count = memory_of(given).numel()
    values = uniform(number, count)
    if given.dtype is torch.bool:
        memory = torch.from_numpy(values < 0.5)
    elif given.is_floating_point():
        memory = torch.from_numpy(low + (high - low) * values)
        memory = memory if given.dtype is torch.float64 else memory.float().to(given.dtype)
    else:
        memory = torch.from_numpy(low + numpy.floor(values * (high - low + 1))).to(given.dtype)
    return with_memory(memory, given)


def _in_memory(values: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """With the dimensions in the order in which they lie in the output's memory."""
    if own.is_contiguous():
        return values
    return values.permute(sorted(range(own.dim()), key=lambda dim: -own.stride(dim)))


def _tolerance(expected: torch.Tensor, noisy: torch.Tensor, precision: str) -> torch.Tensor:
    rows = expected.reshape(-1, expected.shape[-1] if expected.dim() else 1)
    noise = (noisy.double().reshape(rows.shape) - rows).abs().amax(1, keepdim=True)
    rms = rows.square().mean(1, keepdim=True).sqrt()
    rounding = 64 * _EPSILON[precision] * torch.maximum(rows.abs(), rms)
    return torch.maximum(8 * noise, rounding).reshape(-1) + 1e-37


def _elements(expected: torch.Tensor, noisy: torch.Tensor, precision: str) -> dict:
    count = expected.numel()
    places = sorted({0, count - 1, *(int(count * share) for share in uniform(ELEMENTS, ELEMENTS))}) if count else []
    exact = not expected.is_floating_point()
    values = expected.reshape(-1)[places].double()
    tolerance = torch.zeros(len(places), dtype=torch.float64) if exact else _tolerance(expected, noisy, precision)[places]
    return {"places": places, "values": values.tolist(), "tolerance": tolerance.tolist()}


def sample(file: str, precision: str, progress) -> dict:
    problem = load_problem(file)
    progress("making inputs from a formula")
    subject = Subject(problem, 0)
    given, state = subject.inputs(0), subject.state()
    ranges, values = {}, {}
    numbers = {name: number for number, name in enumerate([*(name for name in given.names if name is not None), *state])}
    for name, tensor in {**given.tensors(), **state}.items():
        found = _range(tensor)
        if found is None or tensor.numel() > memory_of(tensor).numel():
            return {"why_not": f"'{name}' has values or strides of its own that no formula gives"}
        ranges[name] = found
        values[name] = _drawn(numbers[name], tensor, *found)
    subject.install({name: values[name] for name in state})
    inputs = given.with_values({name: values[name] for name in given.tensors()})
    progress("computing the outputs in float64")
    reference, note = subject.reference(inputs)
    if note:
        return {"why_not": note}
    own = subject.run(inputs)
    noisy, _ = eager_in(precision, subject, inputs, own)
    if not all(bool(out.isfinite().all()) for out in [*reference.values(), *noisy.values()] if out.is_floating_point()):
        return {"why_not": "the outputs for inputs from a formula are not finite"}
    return {"ranges": ranges, "outputs": [_elements(_in_memory(out, own[name]), _in_memory(noisy[name], own[name]), precision) for name, out in reference.items()]}
