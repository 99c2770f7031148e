"""Every problem of the set loads, runs as it stands, and gives outputs that follow its inputs."""

import importlib.util
import re
from pathlib import Path

import pytest
import torch

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
LEVELS = {"level1": 50, "level2": 30, "level3": 8}
FILES = sorted(path for level in LEVELS for path in (PROBLEMS / level).glob("*.py"))
MOST_BYTES = 300e6


def load(path):
    spec = importlib.util.spec_from_file_location(f"problem_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw_inputs(problem, seed):
    torch.manual_seed(seed)
    return problem.get_inputs()


def outputs_of(model, inputs):
    with torch.no_grad():
        result = model(*inputs)
    return [result] if isinstance(result, torch.Tensor) else list(result)


def tensors_of(values):
    return [value for value in values if isinstance(value, torch.Tensor)]


def all_equal(left, right):
    return len(left) == len(right) and all(torch.equal(a, b) for a, b in zip(left, right))


def byte_count(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


@pytest.mark.parametrize("level, least", LEVELS.items())
def test_level_has_enough_problems(level, least):
    assert len(list((PROBLEMS / level).glob("*.py"))) >= least


@pytest.mark.parametrize("level", LEVELS)
def test_files_are_numbered_without_gaps(level):
    names = sorted(path.name for path in (PROBLEMS / level).glob("*.py"))
    assert all(re.fullmatch(r"\d\d_[a-z0-9_]+\.py", name) for name in names)
    assert [int(name[:2]) for name in names] == list(range(1, len(names) + 1))
    assert len({name[3:] for name in names}) == len(names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_problem(path):
    problem = load(path)
    for name in ("Model", "get_inputs", "get_init_inputs"):
        assert callable(getattr(problem, name, None)), f"{path.name} has no {name}"
    assert problem.__doc__ and "\n" not in problem.__doc__, "one line says what the problem is"

    torch.manual_seed(0)
    model = problem.Model(*problem.get_init_inputs()).eval()
    inputs = draw_inputs(problem, seed=1)
    outputs = outputs_of(model, inputs)
    assert outputs and all(tensor.numel() > 0 for tensor in outputs)
    assert all(torch.isfinite(tensor).all() for tensor in outputs)
    held = tensors_of(inputs) + list(model.state_dict().values()) + outputs
    assert byte_count(held) <= MOST_BYTES

    other_inputs = draw_inputs(problem, seed=2)
    for tensor, other in zip(tensors_of(inputs), tensors_of(other_inputs), strict=True):
        assert tensor.shape == other.shape and tensor.dtype == other.dtype
        assert not torch.equal(tensor, other), "another seed gives other inputs"
    other_outputs = outputs_of(model, other_inputs)
    for tensor, other in zip(outputs, other_outputs, strict=True):
        assert not torch.equal(tensor, other), "other inputs give another output"


@pytest.mark.parametrize("path", FILES[:: max(1, len(FILES) // 12)], ids=lambda path: path.stem)
def test_inputs_repeat_with_their_seed(path):
    problem = load(path)
    first, second = (tensors_of(draw_inputs(problem, seed=7)) for _ in range(2))
    assert all_equal(first, second)
