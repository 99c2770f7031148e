"""Outputs that are positions: what topk, sort, argmax and the like give beside the values. Where values tie, PyTorch's choice
among them is one of several right ones, so a position is judged by the value that it selects. Finds such outputs by watching a
call, and gathers what judging them takes."""

import math
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ROOM = 8  # times what eager errs by in the values that are selected from, as for values themselves

# Operations that select along their argument `dim`; the last result is the positions.
_ALONG_A_DIMENSION = {"argmax", "argmin", "max", "min", "topk", "sort", "kthvalue", "median", "nanmedian", "mode"}
# Those whose positions differ from each other within a line.
_ORDERING = {"topk", "sort"}
# Operations that select among the last dimensions of their first argument, and how many those are.
_IN_WINDOWS = {"max_pool2d_with_indices": 2, "adaptive_max_pool2d": 2, "max_pool3d_with_indices": 3, "adaptive_max_pool3d": 3}
# Operations that move elements of their first argument, or change their type.
_MOVING = {"view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "permute", "transpose", "t", "expand", "detach", "alias",
           "clone", "_to_copy", "slice", "select", "flip", "split", "split_with_sizes", "unbind", "lift_fresh"}


@dataclass
class Selected:
    """Positions, and for each the line of `operand` that it is a position in."""

    positions: torch.Tensor
    lines: torch.Tensor
    operand: torch.Tensor  # all values that are selected from: a line a row
    picks: torch.Tensor  # the selection's positions as they were, a line a row
    source: torch.Tensor
    version: int  # of the source when it was read
    ordering: bool

    @property
    def holds(self) -> bool:
        """Nothing has been written into what was selected from."""
        return self.source._version == self.version


def arguments_of(func, args, kwargs) -> dict:
    """By the names of the operation's schema, defaults included."""
    given = {declared.name: declared.default_value for declared in func._schema.arguments if declared.has_default_value()}
    given.update({declared.name: value for declared, value in zip(func._schema.arguments, args)})
    return given | (kwargs or {})


def name_of(func) -> str:
    return func._schema.name.removeprefix("aten::")


def selects(func, args, kwargs) -> bool:
    """Whether a call makes a choice where values tie. A sort that is asked to be stable has none."""
    name = name_of(func)
    if name in _IN_WINDOWS:
        return True
    if name not in _ALONG_A_DIMENSION:
        return False
    given = arguments_of(func, args, kwargs)
    one_tensor = isinstance(given.get("other"), torch.Tensor)  # the larger of two: nothing is selected
    return not one_tensor and ("dim" in given or name in ("argmax", "argmin")) and not given.get("stable")


def _lines_of(func, given: dict, operand: torch.Tensor, positions: torch.Tensor):
    """The operand with a line a row, the line of each position, and the positions with a line a row."""
    name = name_of(func)
    if name in _IN_WINDOWS:
        spatial = _IN_WINDOWS[name]
        kept = operand.shape[:-spatial]
        count = math.prod(kept)
        lines = torch.arange(count).reshape(*kept, *[1] * spatial).expand(positions.shape)
        return operand.reshape(count, -1), lines, positions.reshape(count, -1)
    dim = given.get("dim")
    if dim is None:
        return operand.reshape(1, -1), torch.zeros(positions.shape, dtype=torch.int64), positions.reshape(1, 1)
    moved = operand.movedim(dim, -1)
    count = math.prod(moved.shape[:-1])
    lines = torch.arange(count).reshape(moved.shape[:-1]).unsqueeze(-1).movedim(-1, dim)
    if positions.dim() < operand.dim():
        return moved.reshape(count, -1), lines.squeeze(dim), positions.reshape(count, 1)
    return moved.reshape(count, -1), lines.expand(positions.shape), positions.movedim(dim, -1).reshape(count, -1)


class PositionWatch(TorchDispatchMode):
    """Knows of each tensor whether it holds positions, while they are only moved about."""

    def __init__(self):
        super().__init__()
        self.chooses = False  # whether anything was selected at all
        self.known_: dict[int, Selected] = {}

    def find(self, output: torch.Tensor) -> Selected | None:
        found = self.known_.get(id(output))
        usable = found is not None and found.holds and not output.is_floating_point() and output.dtype != torch.bool
        return found if usable else None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = name_of(func)
        if selects(func, args, kwargs):
            self.chooses = True
            self.selected(func, args, kwargs, result)
        elif name in _MOVING and args and id(args[0]) in self.known_ and func._overloadname != "dtype":
            self.moved(func, self.known_[id(args[0])], args, kwargs, result)
        return result

    def selected(self, func, args, kwargs, result) -> None:
        given = arguments_of(func, args, kwargs)
        positions = result[-1] if isinstance(result, tuple) else result
        source = args[0]
        if source.dim() == 0 or source.numel() == 0:
            return
        operand, lines, picks = _lines_of(func, given, source, positions)
        self.known_[id(positions)] = Selected(positions, lines, operand, picks, source, source._version,
                                              name_of(func) in _ORDERING)

    def moved(self, func, known: Selected, args, kwargs, result) -> None:
        lines = known.lines
        if name_of(func) not in ("_to_copy", "clone", "detach", "alias", "lift_fresh"):
            lines = func(known.lines, *args[1:], **(kwargs or {}))
        pairs = zip(result, lines) if isinstance(result, (list, tuple)) else [(result, lines)]
        for tensor, its_lines in pairs:
            self.known_[id(tensor)] = Selected(tensor, its_lines, known.operand, known.picks, known.source, known.version,
                                               known.ordering)


def _comparable(values: torch.Tensor) -> torch.Tensor:
    return values.double().nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf)


def _has_ties(operand: torch.Tensor, picks: torch.Tensor, room: torch.Tensor) -> torch.Tensor:
    """Of each line, whether another element is as good as one that was selected."""
    chosen = operand.gather(1, picks)
    low, high = chosen - room[:, None], chosen + room[:, None]
    if picks.shape[1] == 1:
        return ((operand >= low) & (operand <= high)).sum(1) > 1
    ordered = operand.sort(1).values.contiguous()
    within = torch.searchsorted(ordered, high.contiguous(), right=True) - torch.searchsorted(ordered, low.contiguous())
    return (within > 1).any(1)


def ties_of(selected: Selected, eager: Selected | None) -> dict[str, torch.Tensor] | None:
    """What judging takes, where values tie to the precision of eager's own; None: every position is the only right one."""
    values = _comparable(selected.operand)
    room = torch.zeros(values.shape[0], dtype=torch.float64)
    if eager is not None and eager.operand.shape == values.shape:
        distance = _comparable(eager.operand) - values
        room = _ROOM * distance.abs().nan_to_num(nan=0.0, posinf=0.0).amax(1)
    tied = _has_ties(values, selected.picks.long(), room)
    if not bool(tied.any()):
        return None
    row = torch.full((values.shape[0],), -1, dtype=torch.int64)
    row[tied] = torch.arange(int(tied.sum()))
    lines = selected.lines
    distinct = selected.ordering and _are_distinct(selected, values.shape[1])
    return {"values": values[tied], "room": room[tied], "lines": row[lines].contiguous(),
            "distinct": torch.tensor([distinct], dtype=torch.uint8)}


def _are_distinct(selected: Selected, length: int) -> bool:
    """Not where the same positions were handed out several times, as by expand()."""
    places = (selected.lines * length + selected.positions.long()).reshape(-1)
    return places.unique().numel() == places.numel()
