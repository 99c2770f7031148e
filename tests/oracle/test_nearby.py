"""What eager errs by on inputs next to a set's."""

import pathlib

import pytest
import torch
from kw_oracle.distributions import redraw_nearby
from kw_oracle.errors import OracleError
from kw_oracle.loading import load_problem
from kw_oracle.nearby import nearby_noise
from kw_oracle.storage import read_tensors
from kw_oracle.subject import Subject

# One sum decides all outputs, and it may cancel.
NARROW = dict(forward="return self.b(self.a(x))", init="self.a = nn.Linear(48, 1, bias=False); self.b = nn.Linear(1, 17, bias=False)",
              inputs="[torch.randn(48)]")


def noise_of(path: str, folder: pathlib.Path, precision: str = "float32") -> tuple[dict, dict]:
    answer = nearby_noise(str(path), str(folder), precision, lambda _text: None)
    return answer, read_tensors(folder / "nearby.safetensors")


def test_the_noise_is_of_the_size_that_sums_err_by(write, materialised):
    path = write(**NARROW)
    lucky = 0
    for seed in range(12):
        made = materialised(path, seed=seed)
        answer, noise = noise_of(path, made.folder)
        assert answer == {"rounds": 6} and noise["out"].dtype == torch.float64 and noise["out"].shape == (17,)
        own = (made.eager["out"].double() - made.reference["out"]).abs().max()
        terms = made.weights["b.weight"].double().abs().max() * (made.inputs["x"].double() * made.weights["a.weight"].double()).abs().sum()
        assert 0 < noise["out"].max() < 48 * 2**-23 * terms
        lucky += bool(own < noise["out"].max() / 4)
    assert lucky, "of a dozen draws some are lucky: this is what nearby inputs are for"


def test_nearby_inputs_keep_signs_zeros_bounds_and_integers(write):
    subject = Subject(load_problem(str(write(forward="return x * y + i", arguments="x, y, i",
                                             inputs="[torch.tensor([1.0, -1.0, 0.0, 3.0]).repeat(16), torch.rand(4, 16).half().view(-1), torch.arange(64)]"))))
    given = subject.inputs(1)
    x, y, i = given.leaves
    first, second = redraw_nearby(given, 0), redraw_nearby(given, 1)
    assert torch.equal(first.leaves[0], x), "few distinct values are labels or a mask"
    assert torch.equal(first.leaves[2], i)
    near = first.leaves[1]
    assert near.dtype == torch.float16 and not torch.equal(near, y) and not torch.equal(near, second.leaves[1])
    assert bool((near <= y).all()) and bool((near >= y * 0.99).all())


def test_strided_and_broadcast_inputs_keep_their_memory(write):
    subject = Subject(load_problem(str(write(forward="return x + y", arguments="x, y",
                                             inputs="[torch.randn(6, 20).t(), torch.randn(1, 6).expand(20, 6)]"))))
    given = subject.inputs(3)
    for old, new in zip(given.leaves, redraw_nearby(given, 0).leaves):
        assert new.stride() == old.stride() and torch.allclose(new, old, rtol=2**-15) and not torch.equal(new, old)


def test_a_module_that_refuses_other_inputs_gives_no_rounds(write, materialised):
    path = write(forward="assert float(x[0]) == 0.25, 'no other'\nreturn x.exp()",
                 inputs="[torch.cat([torch.full((1,), 0.25), torch.rand(40)])]")
    answer, noise = noise_of(path, materialised(path).folder)
    assert answer == {"rounds": 0} and noise == {}


def test_a_folder_of_another_problem_is_refused(write, materialised):
    made = materialised(write(**NARROW))
    other = write(forward="return x * 2", inputs="[torch.randn(48)]")
    with pytest.raises(OracleError, match="another version"):
        noise_of(other, made.folder)


def test_weights_are_moved_too_where_inputs_are_zeros(write, materialised):
    path = write(forward="y = self.a(x)\nreturn y - y.mean(1, keepdim=True)", init="self.a = nn.Linear(8, 40)", inputs="[torch.randn(6, 8)]")
    made = materialised(path, distribution="zeros", weights="fresh")
    assert not made.inputs["x"].any()
    _, noise = noise_of(path, made.folder)
    size = made.weights["a.bias"].double().abs().max()
    assert bool((noise["out"].amax(0) > 0).all()), "every feature's mean is rounded in some round"
    assert noise["out"].max() < 8 * 2**-23 * size
