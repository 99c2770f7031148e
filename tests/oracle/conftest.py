"""What the oracle's tests share: problem files written on the spot, the oracle in this process, and as a process."""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

ORACLE = pathlib.Path(__file__).resolve().parents[2] / "oracle"
sys.path.insert(0, str(ORACLE))

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from kw_oracle.describe import describe  # noqa: E402
from kw_oracle.loading import fresh_environment  # noqa: E402
from kw_oracle.materialise import Order, materialise  # noqa: E402

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def problem_text(forward: str, inputs: str, init: str = "pass", arguments: str = "x", init_inputs: str = "[]",
                 init_arguments: str = "") -> str:
    """A problem from the parts that a test cares about."""
    head = f", {init_arguments}" if init_arguments else ""
    body = textwrap.indent(textwrap.dedent(init).strip(), " " * 8)
    return (HEADER + f"class Model(nn.Module):\n    def __init__(self{head}):\n        super().__init__()\n{body}\n"
            f"    def forward(self, {arguments}):\n{textwrap.indent(textwrap.dedent(forward).strip(), ' ' * 8)}\n"
            f"def get_inputs():\n    return {inputs}\ndef get_init_inputs():\n    return {init_inputs}\n")


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


class Process:
    """The real oracle over pipes."""

    def __init__(self, **options):
        environment = {**os.environ, "PYTHONPATH": str(ORACLE)}
        self.child = subprocess.Popen([sys.executable, "-m", "kw_oracle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, env=environment, **options)
        self.ids = itertools.count(1)

    def send_line(self, line: str) -> list[dict]:
        """All messages up to and with the answer."""
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        messages = []
        while not messages or "event" in messages[-1]:
            answer = self.child.stdout.readline()
            assert answer, "the oracle ended: " + self.child.stderr.read()
            messages.append(json.loads(answer, parse_constant=lambda name: pytest.fail(f"{name} on the wire")))
        return messages

    def ask(self, op: str, **fields) -> dict:
        return self.send_line(json.dumps({"id": next(self.ids), "op": op, **fields}))[-1]

    def close(self) -> str:
        """Ends it by closing its input; what it wrote to standard error."""
        return self.child.communicate(timeout=60)[1]


@pytest.fixture(scope="session")
def process():
    started = Process()
    yield started
    started.close()
    assert started.child.returncode == 0
