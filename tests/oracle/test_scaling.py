"""Smaller batches: which numbers of a problem may shrink, and what the smaller problem's text is."""

import pathlib

import pytest

from kw_oracle.errors import OracleError
from kw_oracle.scaling import batches_of, numbers_of, scale, sizes_of, with_values

HEAD = "import torch\nfrom torch import nn\n"
CONV = HEAD + '''
batch_size = 64
in_channels, out_channels = 3, 8
size = 16

class Model(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 3)
    def forward(self, x):
        return self.conv(x)

def get_inputs():
    return [torch.rand(batch_size, in_channels, size, size)]

def get_init_inputs():
    return [in_channels, out_channels]
'''


def plain(top: str, forward: str, inputs: str) -> str:
    return HEAD + f'''
{top}

class Model(nn.Module):
    def forward(self, *x):
        return {forward}

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return []
'''


@pytest.fixture
def saved(tmp_path):
    def save(text: str) -> pathlib.Path:
        path = tmp_path / "problem.py"
        path.write_text(text)
        return path

    return save


def batch_names(path) -> list[str]:
    source = path.read_bytes()
    return [number.name for number in batches_of(path, source, sizes_of(path, source))]


@pytest.mark.parametrize("text, expected", [
    (CONV, ["batch_size"]),
    (plain("M, K, N = 64, 32, 16", "x[0] @ x[1]", "torch.rand(M, K), torch.rand(K, N)"), ["M"]),
    (plain("N = 64", "x[0] @ x[1]", "torch.rand(N, N), torch.rand(N, N)"), []),
    (plain("rows, columns = 64, 32", "x[0].sum(0)", "torch.rand(rows, columns)"), []),
    (plain("rows, columns = 64, 32", "x[0].sum()", "torch.rand(rows, columns)"), ["rows"]),
    (plain("seq_len, batch = 64, 32", "x[0] * 2", "torch.rand(seq_len, batch, 4)"), ["batch"]),
    (plain("rows = 16 * 1024", "x[0] * 2", "torch.rand(rows, 4)"), ["rows"]),
    (plain("rows = 1 << 14", "x[0] * 2", "torch.rand(rows, 4)"), ["rows"]),
    (plain("rows: int = 64", "x[0] * 2", "torch.rand(rows, 4)"), ["rows"]),
    (plain("dim = 64", "x[0] * 2", "torch.rand(dim, 4)"), []),
])
def test_batches_are_told_from_sizes_that_mean_something(saved, text, expected):
    assert batch_names(saved(text)) == expected


def test_several_numbers_of_one_line_are_replaced_where_they_stand():
    source = b"a, b = 4096, 2 ** 10\nc = 7\n"
    numbers = {number.name: number for number in numbers_of(source)}
    assert {name: number.value for name, number in numbers.items()} == {"a": 4096, "b": 1024, "c": 7}
    assert with_values(source, {numbers["a"]: 1, numbers["b"]: 99}) == b"a, b = 1, 99\nc = 7\n"


def test_memory_is_kept_below_its_limit_and_the_text_is_the_same_else(saved):
    path = saved(CONV)
    result = scale(str(path), 0, 20_000, lambda text: None)
    assert result["changes"].startswith("batch_size 64 -> ")
    value = int(result["changes"].split()[-1])
    assert value & (value - 1) == 0, "a power of two stays one"
    assert result["source"] == CONV.replace("batch_size = 64", f"batch_size = {value}")
    assert sizes_of(path, result["source"].encode()).bytes <= 20_000
    assert sizes_of(path, CONV.replace("batch_size = 64", f"batch_size = {2 * value}").encode()).bytes > 20_000


def test_a_problem_that_fits_stays_as_it_is(saved):
    assert scale(str(saved(CONV)), 30.0, 1e12, lambda text: None) == {"source": None, "changes": "", "reason": ""}


def test_time_limits_shrink_the_batch(saved):
    asked = []
    result = scale(str(saved(CONV)), 1e-9, 0, asked.append)
    assert result["changes"] == "batch_size 64 -> 1" and asked


def test_a_batch_of_one_that_is_too_big_still_says_so(saved):
    assert "even so a call takes" in scale(str(saved(CONV)), 1e-9, 0, lambda text: None)["reason"]
    result = scale(str(saved(CONV)), 0, 100, lambda text: None)
    assert result["changes"] == "batch_size 64 -> 1" and "even so its tensors need" in result["reason"]


def test_what_fits_needs_no_batch(saved):
    text = plain("N = 64", "x[0] @ x[1]", "torch.rand(N, N), torch.rand(N, N)")
    assert scale(str(saved(text)), 30.0, 1e9, lambda text: None)["reason"] == ""


def test_what_has_no_batch_says_so(saved):
    text = plain("N = 64", "x[0] @ x[1]", "torch.rand(N, N), torch.rand(N, N)")
    result = scale(str(saved(text)), 1e-9, 0, lambda text: None)
    assert result["source"] is None and "batch" in result["reason"]


def test_a_broken_problem_is_told_as_always(saved):
    with pytest.raises(OracleError, match="has no class Model"):
        scale(str(saved("x = 1\n")), 1.0, 0, lambda text: None)
