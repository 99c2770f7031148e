"""A problem whose work is too much for a virtual GPU, with smaller sizes: another problem's text, for trying a kernel and never for timing it.

Unlike `scaling`, which only takes from the batch so that a problem stays what it is, this may make every number at the top smaller:
batches first, then the largest. Sizes keep the powers of two that divide them (up to 128), because tiles and vectors depend on those."""

import pathlib

import torch
from torch.utils.flop_counter import FlopCounterMode

from kw_oracle.errors import OracleError, bad_problem
from kw_oracle.loading import build_model, call_get_inputs, load_problem, load_text
from kw_oracle.scaling import Number, Sizes, batches_of, is_called_a_batch, numbers_of, sizes_of, with_values

_WIDEST_STEP = 128
_FEWEST, _FEWEST_OF_A_BATCH = 32, 2


def work_of(path: pathlib.Path, source: bytes) -> float:
    """Multiply-adds of products and elements of tensors, with nothing computed."""
    problem = load_text(path, source)
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        build_model(problem, 0)(*call_get_inputs(problem, 0))
    return counter.get_total_flops() / 2 + sizes_of(path, source).bytes / 4


def halved(value: int, is_batch: bool) -> int:
    """About half of it, or the value itself where that would be too small to tell anything."""
    if is_batch:
        return value // 2 if value // 2 >= _FEWEST_OF_A_BATCH else value
    step = min(_WIDEST_STEP, value & -value)
    half = -(-(value // 2) // step) * step
    return half if _FEWEST <= half < value else value


def _alike(whole: Sizes, less: Sizes) -> bool:
    def ranks(shapes):
        return None if shapes is None else [len(shape) for shape in shapes]

    return less.outputs is not None and ranks(less.inputs) == ranks(whole.inputs) and ranks(less.outputs) == ranks(whole.outputs)


def reduce(file: str, limit: float, progress) -> dict:
    """{"source": text or None, "changes": "N 4096 -> 256", "reason": why there is no text}."""
    path = pathlib.Path(file)
    load_problem(file)  # what is wrong with it is told as always
    source = path.read_bytes()

    def unchanged(reason: str) -> dict:
        return {"source": None, "changes": "", "reason": reason}

    try:
        whole = sizes_of(path, source)
        work = work_of(path, source)
    except OracleError as error:
        return unchanged(f"its sizes cannot be told without running it: {error.message}")
    except Exception as error:  # noqa: BLE001: a forward() that looks at values cannot run without them
        return unchanged(f"its work cannot be told without running it: {type(error).__name__}")
    batches = batches_of(path, source, whole)
    chosen: dict[Number, int] = {number: number.value for number in numbers_of(source)}
    stuck: set[Number] = set()

    def next_number() -> Number | None:
        open_batches = [number for number in batches if number not in stuck]
        others = [number for number in chosen if number not in stuck]
        return open_batches[0] if open_batches else max(others, key=lambda number: chosen[number], default=None)

    while work > limit and (number := next_number()) is not None:
        less = halved(chosen[number], is_called_a_batch(number))
        progress(f"with {number.name} = {less}")
        text = with_values(source, chosen | {number: less})
        try:
            fits = less < chosen[number] and _alike(whole, sizes_of(path, text))
            less_work = work_of(path, text) if fits else work
        except Exception:  # noqa: BLE001: sizes that do not go together
            fits = False
        if not fits or less_work >= work:
            stuck.add(number)
            continue
        chosen[number], work = less, less_work
    changed = {number: value for number, value in chosen.items() if value < number.value}
    if not changed:
        return unchanged("no number at its top can be made smaller")
    try:
        text = with_values(source, changed).decode()
    except UnicodeDecodeError:
        raise bad_problem(f"{path}: is not in UTF-8", "save it in UTF-8") from None
    return {"source": text, "changes": ", ".join(f"{number.name} {number.value} -> {value}" for number, value in changed.items()),
            "reason": ""}
