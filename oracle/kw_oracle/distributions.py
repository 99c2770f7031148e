"""Other inputs of a problem's own kind: each distribution changes the given floating-point values in one way, so that a
kernel that relies on what the given ones look like is found out. Integers and booleans stay the problem's own."""

import math
import random

import torch

from kw_oracle.structure import Structure, same_range, same_sign, structure_of
from kw_oracle.tensors import Arguments, copy_of, memory_of

# How much of the given tensor's look is kept; the next one is for when the reference is not finite otherwise.
STAGES = ("", "same sign", "same range")


def _generator(*parts) -> torch.Generator:
    return torch.Generator().manual_seed(random.Random(repr(parts)).getrandbits(63))


def _uniform(low: float, high: float, draw: torch.Generator) -> float:
    return low + (high - low) * float(torch.rand((), generator=draw, dtype=torch.float64))


def _sign(draw: torch.Generator) -> int:
    return 1 if float(torch.rand((), generator=draw)) < 0.5 else -1


def _size(s: Structure) -> float:
    """A typical magnitude of the given values, never 0."""
    return s.std or abs(s.mean) or 1.0


def _scaled(x, s, draw):
    """Wider, and centred where all values have one sign: most activations are flat or linear on one side."""
    one_sided = s.low >= 0 or s.high <= 0
    centre = s.mean if one_sided and s.std else 0.0
    return (x - centre) * 2.0 ** _uniform(2, 4, draw)


def _shifted(x, s, draw):
    return x + _sign(draw) * _uniform(3, 6, draw) * _size(s)


def _mixed(x, s, draw):
    exponents = torch.rand(x.shape, generator=draw, dtype=x.dtype).mul_(5).sub_(3)
    magnitudes = torch.pow(10.0, exponents).mul_(_size(s))
    negative = torch.rand(x.shape, generator=draw) < 0.5
    return torch.where(negative, -magnitudes, magnitudes)


def _zeros(x, _s, _draw):
    return torch.zeros_like(x)


def _equal(x, s, draw):
    return torch.full_like(x, s.mean + _sign(draw) * _uniform(0.5, 1.5, draw) * _size(s))


def _outlier(x, s, draw):
    """One anywhere; one begins a row and one ends another, because a row's first element often begins a maximum and its last a remainder."""
    values = x.clone(memory_format=torch.contiguous_format)
    if values.numel():
        place = int(torch.randint(values.numel(), (), generator=draw))
        values.view(-1)[place] = _sign(draw) * 1e3 * _size(s) * _uniform(0.9, 1.1, draw)
    if values.dim() > 1 and values.shape[-1] > 1 and values.numel() // values.shape[-1] > 2:
        rows = values.view(-1, values.shape[-1])
        first, last = torch.randperm(rows.shape[0], generator=draw)[:2].tolist()
        rows[first, 0] = 1e3 * _size(s) * _uniform(0.9, 1.1, draw)
        rows[last, -1] = -1e3 * _size(s) * _uniform(0.9, 1.1, draw)
    return values


def _nudged(x, s, draw):
    """The given values but for a few anywhere: a kernel that knows its inputs by a sample of them takes them for the same."""
    values = x.clone(memory_format=torch.contiguous_format)
    count = min(64, max(1, values.numel() // 64))
    places = torch.randperm(values.numel(), generator=draw)[:count]
    flat = values.view(-1)
    flat[places] = -flat[places] + _sign(draw) * _uniform(0.5, 1.5, draw) * _size(s)
    return values


def _positional(x, _s, draw):
    """A ramp along memory and one along each dimension: no part looks like the whole."""
    low, high = _uniform(0.05, 0.15, draw), _uniform(3, 5, draw)
    ramp = torch.linspace(low, high, x.numel(), dtype=x.dtype).view(x.shape)
    values = x * (ramp if _sign(draw) > 0 else ramp.flip(tuple(range(x.dim()))))
    for dim, extent in enumerate(x.shape):
        if extent > 1:
            shape = [1] * x.dim()
            shape[dim] = extent
            values.mul_(torch.linspace(0.5, 1.5, extent, dtype=x.dtype).view(shape))
    return values


_SCATTERED = 64
_SMALL_PART = 16


def _below_normal(x, s, draw):
    """Magnitudes below the smallest normal number, each of its own size, with the signs of `x`."""
    exponents = torch.rand(x.shape, generator=draw, dtype=x.dtype).mul_(min(16, s.digits - 2))
    return torch.copysign(torch.pow(2.0, -exponents).mul_(s.smallest_normal * (1 - 2.0**-6)), x)


def _subnormal(x, s, draw):
    """The given values but for a part of the tensor, whole along its last dimensions, and a few other places: what divides by the sum or the
    norm of such a part divides by next to nothing. Only a few, because processors take a hundred times as long for them."""
    values = x.clone(memory_format=torch.contiguous_format)
    count = min(_SCATTERED, values.numel() // _SMALL_PART + 1)
    places = torch.randperm(values.numel(), generator=draw)[:count]
    values.view(-1)[places] = _below_normal(values.view(-1)[places], s, draw)
    if s.keeps_sums:
        return values
    part = values
    for extent in values.shape[:-1]:
        part = part[int(torch.randint(extent, (), generator=draw))]
        if part.numel() * _SMALL_PART <= values.numel():
            break
    if part.numel() == values.numel() > 1:
        part = part.reshape(-1)[:max(1, values.numel() // 4)]
    part.copy_(_below_normal(part, s, draw))
    return values


_MAKERS = {"scaled": _scaled, "shifted": _shifted, "mixed": _mixed, "zeros": _zeros, "equal": _equal,
           "outlier": _outlier, "positional": _positional, "nudged": _nudged, "subnormal": _subnormal}
DISTRIBUTIONS = ("given", *_MAKERS)


def _independent_view(memory: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """`memory` with the shape of `like`, each element once: broadcast dimensions have extent 1, and where elements
    overlap in other ways the memory itself is the tensor."""
    shape = [1 if stride == 0 else extent for extent, stride in zip(like.shape, like.stride())]
    reach = 0
    for stride, extent in sorted(zip(like.stride(), shape)):
        if extent > 1 and stride <= reach:
            return memory
        reach += (extent - 1) * stride
    return memory.as_strided(shape, like.stride())


def redraw(given: torch.Tensor, distribution: str, stage: int, draw: torch.Generator) -> torch.Tensor:
    if not given.is_floating_point() or given.numel() == 0:
        return given
    memory = memory_of(given).clone()
    view = _independent_view(memory, given)
    own = view.contiguous()
    if own.dtype in (torch.float16, torch.bfloat16):
        own = own.float()
    structure = structure_of(own)
    if structure.labels:
        return given
    type_info = torch.finfo(given.dtype)
    structure.smallest_normal, structure.digits = type_info.smallest_normal, round(-math.log2(type_info.eps))
    structure.keeps_sums = stage >= 1
    values = _MAKERS[distribution](own, structure, draw)
    if stage >= 1:
        values = same_sign(values, structure)
    if stage >= 2:
        values = same_range(values, structure)
    limit = torch.finfo(given.dtype).max / 4
    view.copy_(structure.kept_in(values.clamp_(-limit, limit), own))
    return memory.as_strided(given.shape, given.stride())


def vary(given: Arguments, distribution: str, seed: int, stage: int = 0) -> Arguments:
    if distribution == "given":
        return given
    values = {}
    for index, (name, leaf) in enumerate(zip(given.names, given.leaves)):
        draw = _generator(seed, distribution, index)
        if isinstance(leaf, torch.Tensor):
            values[name] = redraw(leaf, distribution, stage, draw)
        elif isinstance(leaf, float) and stage < 2 and distribution not in ("nudged", "subnormal"):
            values[name] = leaf * _uniform(0.5, 1.5, draw)
    return given.with_values(values)


def without_subnormals(given: Arguments) -> Arguments:
    """What arithmetic that takes subnormal numbers for zeros sees. Those of float16 are none to it: they are normal in float32."""
    def flushed(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point() or tensor.dtype == torch.float16:
            return tensor
        copy = copy_of(tensor)
        memory = memory_of(copy)
        memory.masked_fill_(memory.abs() < torch.finfo(tensor.dtype).smallest_normal, 0)
        return copy
    return given.mapped(flushed)


def _nearby(tensor: torch.Tensor, number: int, index) -> torch.Tensor | None:
    """None: there is nothing to change."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return None
    memory = memory_of(tensor).clone()
    if structure_of(memory.float()).labels:
        return None
    draw = _generator("nearby", number, index)
    share = max(2.0**-16, 4 * torch.finfo(memory.dtype).eps)
    memory.copy_(memory.double() * (1 - share * torch.rand(memory.shape, generator=draw, dtype=torch.float64)))
    return memory.as_strided(tensor.shape, tensor.stride())


def redraw_nearby(given: Arguments, number: int) -> Arguments:
    """The same inputs but for the last digits of each value: towards zero, so that no sign and no bound is crossed. Large enough that every
    rounding of a sum is another one, small enough that what nearly cancels or ties still does."""
    near = {name: _nearby(leaf, number, index) for index, (name, leaf) in enumerate(zip(given.names, given.leaves))
            if isinstance(leaf, torch.Tensor)}
    return given.with_values({name: tensor for name, tensor in near.items() if tensor is not None})


def weights_nearby(state: dict[str, torch.Tensor], number: int) -> dict[str, torch.Tensor]:
    """The same for weights: inputs that are zeros have no last digits, and what a module makes of them rounds by its weights alone."""
    near = {name: _nearby(tensor, number, name) for name, tensor in state.items()}
    return {name: state[name] if tensor is None else tensor for name, tensor in near.items()}
