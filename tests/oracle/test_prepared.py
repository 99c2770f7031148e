"""Sets that share their weights are made by one subject, and are what each would be alone."""

import torch
from safetensors.torch import load_file

from kw_oracle.materialise import Order, materialise
from kw_oracle.prepared import LastPrepared

LINEAR = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))

def get_inputs():
    return [torch.randn(3, 6)]

def get_init_inputs():
    return []
"""
# Each call adds one to what the next call sees: in a tensor, in a plain value, in a module's new attribute.
COUNTS = {
    "tensor": ("self.register_buffer('calls', torch.zeros(1))", "self.calls += 1; return x + self.calls"),
    "plain": ("self.calls = 0", "self.calls += 1; return x + self.calls"),
    "new": ("pass", "self.calls = getattr(self, 'calls', torch.zeros(1)) + 1; return x + self.calls"),
}


def counting(kind):
    begin, call = COUNTS[kind]
    return LINEAR.replace("self.linear = nn.Linear(6, 4)", begin).replace("return torch.relu(self.linear(x))", call)


def made(problem, folder, last, seed, distribution="given", weights="given", weights_seed=5):
    materialise(Order(problem, seed, distribution, weights, weights_seed, str(folder), "float32"), lambda _text: None, last)
    return {path.stem: load_file(path) for path in folder.glob("*.safetensors")}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for file in one:
        assert one[file].keys() == other[file].keys()
        assert all(torch.equal(one[file][name], other[file][name]) for name in one[file]), file


def test_a_set_is_the_same_whatever_was_made_before_it(write, tmp_path):
    problem, last = write(LINEAR), LastPrepared()
    orders = [(1, "given", "given", 5), (2, "scaled", "given", 5), (3, "given", "fresh", 5), (4, "mixed", "fresh", 5), (5, "zeros", "fresh", 6),
              (6, "given", "given", 5)]
    for number, order in enumerate(orders):
        assert_same(made(problem, tmp_path / f"after{number}", last, *order), made(problem, tmp_path / f"alone{number}", None, *order))


def test_sets_with_the_same_weights_share_their_file_wherever_it_has_gone(write, tmp_path):
    problem, last = write(LINEAR), LastPrepared()
    made(problem, tmp_path / "first", last, 1)
    (tmp_path / "first").rename(tmp_path / "moved")
    made(problem, tmp_path / "second", last, 2)
    made(problem, tmp_path / "other", last, 3, weights="fresh")
    first, second, other = (tmp_path / name / "weights.safetensors" for name in ("moved", "second", "other"))
    assert first.samefile(second) and not first.samefile(other)


def test_a_file_that_is_gone_is_written_again(write, tmp_path):
    problem, last = write(LINEAR), LastPrepared()
    first = made(problem, tmp_path / "first", last, 1)
    for path in (tmp_path / "first").iterdir():
        path.unlink()
    assert_same({"weights": made(problem, tmp_path / "second", last, 2)["weights"]}, {"weights": first["weights"]})


def test_a_module_that_a_call_has_changed_is_built_anew(write, tmp_path):
    for kind in COUNTS:
        problem, last = write(counting(kind)), LastPrepared()
        for number, seed in enumerate((1, 2, 3)):
            after = made(problem, tmp_path / f"{kind}{number}", last, seed)
            alone = made(problem, tmp_path / f"{kind}alone{number}", None, seed)
            assert_same({"eager": after["eager"]}, {"eager": alone["eager"]})


def test_a_file_that_has_changed_is_read_again(write, tmp_path):
    problem, last = write(LINEAR), LastPrepared()
    made(problem, tmp_path / "first", last, 1)
    with open(problem, "w", encoding="utf-8") as file:
        file.write(LINEAR.replace("torch.relu(self.linear(x))", "-self.linear(x).abs()"))
    assert (made(problem, tmp_path / "second", last, 1)["eager"]["out"] <= 0).all()
