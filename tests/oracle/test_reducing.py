"""Reduced problems for the virtual GPU: which numbers become smaller, how far, and when nothing does."""

import pytest

from kw_oracle.errors import OracleError
from kw_oracle.loading import load_problem
from kw_oracle.reducing import halved, reduce, work_of

HEAD = "import torch\nfrom torch import nn\n"


def written(tmp_path, top: str, forward: str, inputs: str):
    path = tmp_path / "problem.py"
    path.write_text(HEAD + f'''
{top}

class Model(nn.Module):
    def forward(self, *x):
        return {forward}

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return []
''', encoding="utf-8")
    return path


def reduced(path, limit):
    return reduce(str(path), limit, lambda _: None)


@pytest.mark.parametrize(("value", "is_batch", "less"), [
    (1024, False, 512), (256, False, 128), (128, False, 128), (96, False, 64), (1000, False, 504), (40, False, 40), (33, False, 33),
    (129, False, 64), (64, True, 32), (5, True, 2), (3, True, 3)])
def test_a_number_keeps_the_powers_of_two_that_divide_it(value, is_batch, less):
    assert halved(value, is_batch) == less


def test_work_is_multiply_adds_and_elements(tmp_path):
    path = written(tmp_path, "M, K, N = 64, 128, 32", "x[0] @ x[1]", "torch.rand(M, K), torch.rand(K, N)")
    assert work_of(path, path.read_bytes()) == 64 * 128 * 32 + 64 * 128 + 128 * 32 + 64 * 32


def test_a_product_becomes_smaller_in_all_its_sizes(tmp_path):
    path = written(tmp_path, "M, K, N = 2048, 4096, 1024", "x[0] @ x[1]", "torch.rand(M, K), torch.rand(K, N)")
    answer = reduced(path, 1 << 24)
    assert answer["reason"] == "" and "K 4096 -> " in answer["changes"] and "M 2048 -> " in answer["changes"], answer
    path.write_text(answer["source"], encoding="utf-8")
    assert (1 << 20) < work_of(path, path.read_bytes()) <= 1 << 24
    smaller = load_problem(str(path)).module
    assert all(size % 128 == 0 for size in (smaller.M, smaller.K, smaller.N))


def test_batches_go_first(tmp_path):
    path = written(tmp_path, "batch_size, features = 4096, 512", "torch.softmax(x[0], 1)", "torch.rand(batch_size, features)")
    assert reduced(path, 1 << 18)["changes"] == "batch_size 4096 -> 256"


def test_nothing_is_changed_without_need_or_without_numbers(tmp_path):
    small = written(tmp_path, "N = 64", "x[0] + 1", "torch.rand(N)")
    assert reduced(small, 1 << 24)["source"] is None
    unnamed = written(tmp_path, "", "x[0] + 1", "torch.rand(4096, 4096)")
    answer = reduced(unnamed, 1 << 20)
    assert answer["source"] is None and "no number" in answer["reason"]


def test_what_looks_at_values_is_left_alone(tmp_path):
    path = written(tmp_path, "N = 4096", "x[0][: int(x[0].sum().item() * 0) + 1]", "torch.rand(N, N)")
    answer = reduced(path, 1 << 16)
    assert answer["source"] is None and answer["reason"], answer


def test_a_missing_problem_is_told(tmp_path):
    with pytest.raises(OracleError):
        reduced(tmp_path / "none.py", 1)
