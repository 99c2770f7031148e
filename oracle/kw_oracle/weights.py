"""Fresh weights: values of the size that the module itself gives, but also for scales, biases and running statistics,
which a kernel could otherwise take for ones and zeros."""

import math

import torch

from kw_oracle.errors import OracleError
from kw_oracle.state import Entry
from kw_oracle.structure import same_range, same_sign, structure_of
from kw_oracle.subject import Subject
from kw_oracle.tensors import copy_of, memory_of
from kw_seeded import is_running

_OTHER_SEED = 1
_STAGES = ("", "same sign", "same range")
_stage_of: dict[tuple[str, int], int] = {}


def _values_like(name: str, given: torch.Tensor, draw: torch.Generator) -> torch.Tensor | None:
    """Fresh float values in the shape of `given`; None leaves it as it is."""
    def normal():
        return torch.randn(given.shape, generator=draw, dtype=given.dtype)

    def around_one():
        return torch.rand(given.shape, generator=draw, dtype=given.dtype) + 0.5

    if name.endswith("running_var"):
        return around_one()
    if name.endswith("running_mean"):
        return normal() * 0.5
    structure = structure_of(given)
    if structure.std == 0 and structure.mean != 0:
        return structure.mean * around_one()
    if structure.std == 0:
        bias_like = given.numel() == max(given.shape, default=1)
        fan_in = math.prod(given.shape[1:])
        return normal() * (0.5 if bias_like else 1 / math.sqrt(fan_in))
    return structure.kept_in(normal() * structure.std + structure.mean, given)


def _can_be_fresh(entry: Entry) -> bool:
    """Masks, tables and counters mean what they are: only parameters and running statistics change."""
    running = entry.kind == "buffer" and is_running(entry.name)
    given = entry.get()
    return (entry.kind == "parameter" or running) and given.is_floating_point() and given.numel() > 0


def _fresh_values(subject: Subject, weights_seed: int, stage: int) -> dict[str, torch.Tensor]:
    values, seen = {}, {}
    draw = torch.Generator().manual_seed((weights_seed * 2654435761 + 97) % 2**63)
    for entry in subject.entries:
        if not _can_be_fresh(entry):
            continue
        given = entry.get()
        place = (given.data_ptr(), given.shape, given.stride())
        if place in seen:  # tied: the same values under both names
            values[entry.name] = values[seen[place]]
            continue
        seen[place] = entry.name
        own = given.float() if given.dtype in (torch.float16, torch.bfloat16) else given
        fresh = _values_like(entry.name, own.contiguous(), draw)
        if stage >= 1:
            fresh = same_sign(fresh, structure_of(own))
        if stage >= 2:
            fresh = same_range(fresh, structure_of(own))
        values[entry.name] = copy_of(given)
        if memory_of(given).numel() >= given.numel():
            values[entry.name].copy_(fresh)
    return values


def _nonfinite(subject: Subject) -> int:
    try:
        outputs = subject.run(subject.inputs(0))
    except OracleError:
        return -1
    return sum(int((~out.isfinite()).sum()) for out in outputs.values() if out.is_floating_point())


def install_fresh(subject: Subject, weights_seed: int) -> tuple[str, list[str]]:
    """Gives the subject fresh weights, the same for the same seed whatever the inputs are. Returns what was used, and
    notes."""
    key = (subject.problem.source_hash, weights_seed)
    given = subject.state()
    if not any(_can_be_fresh(entry) for entry in subject.entries):
        return "given", []
    stage = _stage_of.get(key, 0)
    bound = None if key in _stage_of else max(0, _nonfinite(subject))
    for stage in range(stage, len(_STAGES)):
        subject.install(_fresh_values(subject, weights_seed, stage))
        if bound is None or 0 <= _nonfinite(subject) <= bound:
            break
        subject.install(given)
    else:
        stage = len(_STAGES)
    _stage_of[key] = stage
    if stage == 0:
        return "fresh", []
    if stage == len(_STAGES):
        return "given", ["fresh weights make the output NaN or infinite, so the weights are the module's own"]
    return f"fresh ({_STAGES[stage]})", [f"fresh weights keep the {_STAGES[stage].split()[1]} of the module's own: "
                                         "others make the output NaN or infinite"]


def known_weights(subject: Subject, weights_seed: int) -> list[str]:
    """Of a subject with drawn constants: which weights are the same under every seed all the same, such as an identity."""
    own = {entry.name: copy_of(entry.get()) for entry in subject.entries if _can_be_fresh(entry)}
    if not own:
        return []
    other = Subject(subject.problem, weights_seed + _OTHER_SEED, drawn_constants=True).state()
    return [name for name, tensor in own.items() if name in other and torch.equal(tensor, other[name])]
