"""What the oracle's tests share: problem files written on the spot, the oracle in this process, and as a process."""

import itertools
import json
import pathlib
import sys

import pytest

ORACLE = pathlib.Path(__file__).resolve().parents[2] / "oracle"
sys.path.insert(0, str(ORACLE))

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from kw_oracle.describe import describe  # noqa: E402
from kw_oracle.loading import fresh_environment  # noqa: E402
from kw_oracle.materialise import Order, materialise  # noqa: E402
from oracle_rig import Process, problem_text  # noqa: E402


@pytest.fixture
def write(tmp_path):
    """Writes a problem file from problem_text's parts, or as it is."""
    numbers = itertools.count()

    def written(text: str | None = None, **parts) -> str:
        path = tmp_path / f"problem{next(numbers)}.py"
        path.write_text(text if text is not None else problem_text(**parts))
        return str(path)

    return written


@pytest.fixture(autouse=True)
def environment():
    with fresh_environment(torch.get_num_threads()):
        yield


@pytest.fixture
def described(write):
    def describes(**parts) -> dict:
        return describe(write(**parts), lambda message: None)

    return describes


class Set:
    """A materialised folder, read back."""

    def __init__(self, folder: pathlib.Path, answer: dict):
        self.answer = answer
        self.folder = folder
        self.json = json.loads((folder / "set.json").read_text())
        self.inputs, self.weights, self.reference, self.eager = (
            load_file(folder / f"{name}.safetensors") for name in ("inputs", "weights", "reference", "eager"))


@pytest.fixture
def materialised(tmp_path):
    numbers = itertools.count()

    def makes(problem: str, **choices) -> Set:
        folder = tmp_path / f"set{next(numbers)}"
        order = {"seed": 3, "distribution": "given", "weights": "given", "weights_seed": 0, "precision": "float32", **choices}
        answer = materialise(Order(problem=problem, folder=str(folder), **order), lambda message: None)
        return Set(folder, answer)

    return makes


@pytest.fixture(scope="session")
def process():
    started = Process()
    yield started
    started.close()
    assert started.child.returncode == 0
