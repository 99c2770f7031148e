"""Arithmetic of whole numbers in every language: as PyTorch's, it wraps around in the type of the result after every operation."""

import pytest
from test_halves import KERNELS, LANGUAGES, PASSED, Problems, kw, shared_cache, with_every_change, written  # noqa: F401: fixtures

pytestmark = pytest.mark.skipif(not KERNELS.is_file(), reason="gpu_kernels was not built")

TYPES = {"int8": (-128, 128), "uint8": (0, 256), "int16": (-32768, 32768), "int32": (-2**31, 2**31)}

# What is computed of x and y; what comes next is float64 or int64, so that a number outside its type shows.
OPERATIONS = {
    "add": "(x + y).double()",
    "sub": "(x - y).long()",
    "mul": "(x * y).double()",
    "add_number": "(x + 100).double()",
    "chain": "(x * 3 - y + 7).double() * 0.5",
    "neg": "(-x).double()",
    "abs": "torch.abs(x).double()",
    "square": "(x * x).long()",
    "not": "(~x).double()",
    "bits": "((x & y) + (x | 3) - (x ^ y)).double()",
    "left": "(x << 3).double()",
    "right": "(x >> 2).double()",
    "far": "((x << (y & 31)) ^ (x >> (y & 31))).double()",
    "compared": "(x - y > y).double()",
    "sum": "(x + y).sum(1)",
    "columns": "(x - y).sum(0)",
    "largest": "(x + x).amax(1).double()",
    "narrowed": "x.to(torch.int8).double() + x.to(torch.uint8).double() * 1000",
    "from_floats": "(x.to(torch.int8).float().abs() * 0.75).to(x.dtype).double() + (y.to(torch.int8).float() * 2.5).to(torch.int16).double()",
    "widened": "x.to(torch.int32) * y.to(torch.int32) + 1",
    "chosen": "torch.where(x > y, x + y, x - y).double()",
    "product": "(x @ y.t())",
    "kept": "x + y * 2",
}


def whole_problem(dtype):
    low, high = TYPES[dtype]
    given = f"torch.randint({low}, {high}, (12, 40), dtype=torch.{dtype})"
    return "\n".join([
        "import torch", "import torch.nn as nn", "", "", "class Model(nn.Module):", "    def forward(self, x, y):",
        *(f"        {name}_ = {text}" for name, text in OPERATIONS.items()),
        f"        return {', '.join(f'{name}_' for name in OPERATIONS)}", "", "",
        "def get_inputs():", f"    return [{given}, {given}]", "", "", "def get_init_inputs():", "    return []", ""])


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    return Problems(tmp_path_factory.mktemp("problems"))


@pytest.mark.parametrize("form", [pytest.param("plain", marks=pytest.mark.slow), "all"])
@pytest.mark.parametrize("language, dtype", with_every_change(TYPES, "int8"))
def test_whole_numbers_wrap_around_as_pytorchs_do(problems, kw, tmp_path, language, dtype, form):  # noqa: F811
    here, ending, strategies = LANGUAGES[language]
    if not here():
        pytest.skip(f"{language} is not here")
    problems.of(dtype, whole_problem(dtype))
    trial, = written(problems, [(f"{language}_{dtype}_{form}", dtype, strategies if form == "all" else [], {"dsl": language})])
    file = tmp_path / f"kernel.{ending}"
    file.write_text(trial.kernel["source"], encoding="utf-8")
    run = kw("verify", problems.folder / f"{dtype}.py", file, *(["--dsl", "cute"] if language == "cute" else []))
    assert run.status == PASSED, f"{run}\n{trial.kernel['source']}"
