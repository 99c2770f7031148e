"""A problem that is too big for this machine, with its batch made smaller: the text of another problem, the same in everything
but one or two numbers at its top.

A number counts as a batch if it is no argument of the module and shows in the shapes of the inputs as their first dimension
alone (or if it is called a batch, wherever it shows). Sizes of layers, kernels, heads, images and sequences are left alone. Shapes are
found on PyTorch's meta device, without memory; times by calls of growing batches."""

import ast
import math
import pathlib
import re
import time
from dataclasses import dataclass

import torch
from torch.utils import _pytree as pytree

from kw_oracle.errors import OracleError, bad_problem
from kw_oracle.loading import Problem, blamed_on, build_model, call_get_inputs, load_problem, load_text

_BATCH = re.compile(r"batch|(^|_)bs($|_)", re.IGNORECASE)
# Names of what a problem means by its size, even where only a first dimension has it.
_MEANING = re.compile(r"seq|len|time|step|channel|feature|hidden|embed|dim|head|kernel|height|width|depth|size$|class|vocab|group|layer",
                      re.IGNORECASE)
_TIMED_CALLS = 3


@dataclass(frozen=True)
class Number:
    """A whole number that a name at the top of the file stands for, and where it is written."""

    name: str
    value: int
    line: int
    begin: int  # in bytes of the line
    end: int


def _whole(node: ast.expr) -> int | None:
    """The value of 4096, 16 * 1024, 2 ** 20 or 1 << 20."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Pow, ast.LShift, ast.Add, ast.FloorDiv)):
        left, right = _whole(node.left), _whole(node.right)
        if left is None or right is None or (isinstance(node.op, (ast.Pow, ast.LShift)) and not 0 <= right <= 64):
            return None
        if isinstance(node.op, ast.FloorDiv):
            return left // right if right else None
        return {ast.Mult: int.__mul__, ast.Pow: int.__pow__, ast.LShift: int.__lshift__, ast.Add: int.__add__}[type(node.op)](left, right)
    return None


def numbers_of(source: bytes) -> list[Number]:
    found = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        pairs = [(target, value)]
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            pairs = zip(target.elts, value.elts) if len(target.elts) == len(value.elts) else []
        for name, node in pairs:
            number = _whole(node)
            if isinstance(name, ast.Name) and number is not None and number > 1 and node.lineno == node.end_lineno:
                found.append(Number(name.id, number, node.lineno, node.col_offset, node.end_col_offset))
    return found


def with_values(source: bytes, values: dict[Number, int]) -> bytes:
    lines = source.splitlines(keepends=True)
    for number in sorted(values, key=lambda each: (each.line, -each.begin)):
        line = lines[number.line - 1]
        lines[number.line - 1] = line[:number.begin] + str(values[number]).encode() + line[number.end:]
    return b"".join(lines)


@dataclass
class Sizes:
    """What a problem's text says of its sizes, with nothing computed."""

    arguments: str  # of the module
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]] | None  # None: they depend on values
    bytes: float


def _shapes(tensors) -> list[tuple[int, ...]]:
    return [tuple(each.shape) for each in tensors]


def _tensors(values) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def sizes_of(path: pathlib.Path, source: bytes) -> Sizes:
    problem = load_text(path, source)
    with torch.device("meta"):
        given = call_get_inputs(problem, 0)
        with blamed_on(problem, "get_init_inputs()"):
            arguments = problem.module.get_init_inputs()
        inputs, outputs = _tensors(given), None
        memory = list(inputs)
        try:
            model = build_model(problem, 0)
            outputs = _tensors(model(*given))
            memory += [*model.parameters(), *outputs]
        except Exception:  # noqa: BLE001: a forward() that looks at values says nothing about memory beyond its inputs
            pass
    return Sizes(repr(pytree.tree_map(lambda each: tuple(each.shape) if isinstance(each, torch.Tensor) else each, arguments)),
                 _shapes(inputs), None if outputs is None else _shapes(outputs),
                 float(sum(each.numel() * each.element_size() for each in memory)))


def is_called_a_batch(number: Number) -> bool:
    return bool(_BATCH.search(number.name))


def _is_batch(number: Number, path: pathlib.Path, source: bytes, whole: Sizes) -> bool:
    is_named = is_called_a_batch(number)
    if not is_named and _MEANING.search(number.name):
        return False
    smaller = number.value // 2
    try:
        less = sizes_of(path, with_values(source, {number: smaller}))
    except OracleError:
        return False
    if less.arguments != whole.arguments or [len(shape) for shape in less.inputs] != [len(shape) for shape in whole.inputs]:
        return False
    changed = [(place, a, b) for big, small in zip(whole.inputs, less.inputs) for place, (a, b) in enumerate(zip(big, small)) if a != b]
    if not changed or any(a * smaller != b * number.value for _, a, b in changed):
        return False
    return is_named or (all(place == 0 for place, _, _ in changed) and _leads(whole, less))


def _leads(whole: Sizes, less: Sizes) -> bool:
    """The first dimension of the first input, and of every output that has dimensions."""
    if not whole.inputs[0] or whole.inputs[0][0] == less.inputs[0][0]:
        return False
    if whole.outputs is None or less.outputs is None:
        return False
    return all(not big or (small and big[0] != small[0] and big[1:] == small[1:])
               for big, small in zip(whole.outputs, less.outputs))


def batches_of(path: pathlib.Path, source: bytes, whole: Sizes) -> list[Number]:
    """Those with a batch's name first."""
    found = [number for number in numbers_of(source) if _is_batch(number, path, source, whole)]
    return sorted(found, key=lambda number: not is_called_a_batch(number))


def seconds_of(path: pathlib.Path, source: bytes) -> float:
    """One call of the module."""
    problem: Problem = load_text(path, source)
    model = build_model(problem, 0)
    inputs = call_get_inputs(problem, 0)
    best = math.inf
    with blamed_on(problem, "forward()"):
        model(*inputs)
        for _ in range(_TIMED_CALLS):
            begin = time.perf_counter()
            model(*inputs)
            best = min(best, time.perf_counter() - begin)
    return best


def _rounded(value: int, whole: int) -> int:
    """Powers of two stay so."""
    return 1 << (value.bit_length() - 1) if whole & (whole - 1) == 0 else value


class Search:
    """The largest batches within limits; what was chosen so far holds for the next."""

    def __init__(self, path: pathlib.Path, source: bytes, limits: tuple[float, float], progress):
        self.path, self.source, self.progress = path, source, progress
        self.seconds, self.bytes = limits
        self.chosen: dict[Number, int] = {}

    def text(self, more: dict[Number, int]) -> bytes:
        return with_values(self.source, self.chosen | more)

    def choose(self, number: Number) -> int:
        value = self.most_by_seconds(number, self.most_by_bytes(number))
        if value < number.value:
            self.chosen[number] = value
        return value

    def most_by_bytes(self, number: Number) -> int:
        if not self.bytes:
            return number.value
        low, high = 1, number.value  # sizes grow with the batch
        while low < high:
            middle = (low + high + 1) // 2
            if sizes_of(self.path, self.text({number: middle})).bytes <= self.bytes:
                low = middle
            else:
                high = middle - 1
        return _rounded(low, number.value)

    def most_by_seconds(self, number: Number, most: int) -> int:
        if not self.seconds:
            return most
        within, taken = 0, 0.0
        value = 1
        while True:
            self.progress(f"a call with {number.name} = {value}")
            now = seconds_of(self.path, self.text({number: value}))
            if now > self.seconds:
                break
            if value == most:
                return most
            within, taken = value, now
            value = min(most, value * 4)
        # Between a batch that is small enough and one that is not, time grows about evenly.
        between = within + int((value - within) * (self.seconds - taken) / max(now - taken, 1e-12))
        return _rounded(max(1, between), number.value)

    def changes(self) -> str:
        return ", ".join(f"{number.name} {number.value} -> {value}" for number, value in self.chosen.items())


def excess(path: pathlib.Path, source: bytes, seconds: float, limit_bytes: float) -> str:
    """By what it is too big, in words; empty: it fits."""
    size = sizes_of(path, source).bytes
    if limit_bytes and size > limit_bytes:
        return f"its tensors need {size / 2**20:.3g} MiB"
    taken = seconds_of(path, source) if seconds else 0.0
    return f"a call takes {taken * 1e3:.3g} ms" if taken > seconds > 0 else ""


def scale(file: str, seconds: float, limit_bytes: float, progress) -> dict:
    path = pathlib.Path(file)
    load_problem(file)  # what is wrong with it is told as always
    source = path.read_bytes()
    unchanged = {"source": None, "changes": "", "reason": ""}
    try:
        batches = batches_of(path, source, sizes_of(path, source))
    except OracleError as error:
        return unchanged | {"reason": f"its sizes cannot be told without running it: {error.message}"}
    if not batches:
        much = excess(path, source, seconds, limit_bytes)
        return unchanged | {"reason": f"{much}, but no number in it is a batch and nothing else" if much else ""}
    search = Search(path, source, (seconds, limit_bytes), progress)
    reason = ""
    for number in batches:
        if search.choose(number) > 1:
            break  # a further one is needed only where this one is not enough
    else:
        much = excess(path, search.text({}), seconds, limit_bytes)
        reason = f"even so {much}" if much else ""
    if not search.chosen:
        return unchanged
    try:
        text = search.text({}).decode()
    except UnicodeDecodeError:
        raise bad_problem(f"{path}: is not in UTF-8", "save it in UTF-8") from None
    return {"source": text, "changes": search.changes(), "reason": reason}
