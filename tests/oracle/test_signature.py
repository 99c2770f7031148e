"""How forward() is called and what it returns, and samples for where there is no PyTorch."""

import pytest
import torch

from kw_oracle.errors import OracleError
from kw_oracle.sample import sample, uniform
from kw_oracle.signature import signature


def say_nothing(_text):
    pass


@pytest.mark.parametrize("parts, arguments, returns", [
    (dict(forward="return x * 2", inputs="[torch.randn(4)]"), [{"leaf": 0}], {"leaf": 0}),
    (dict(forward="return x * s, x", arguments="x, mask, s", inputs="[torch.randn(4), None, 2.0]"), [{"leaf": 0}, {"constant": None}, {"leaf": 1}],
     {"tuple": [{"leaf": 0}, {"leaf": 1}]}),
    (dict(forward="return {'b': p[0] * 2, 'a': [p[1]], 'none': None}", arguments="p", inputs="[(torch.randn(4), torch.randn(3))]"),
     [{"tuple": [{"leaf": 0}, {"leaf": 1}]}], {"dict": [["b", {"leaf": 0}], ["a", {"list": [{"leaf": 1}]}], ["none", {"constant": None}]]}),
])
def test_trees(write, parts, arguments, returns):
    found = signature(write(**parts), say_nothing)
    assert found["arguments"] == arguments and found["returns"] == returns


def test_parameters_are_forwards_own_names(write):
    found = signature(write(forward="return x + y", arguments="x, y, z=None", inputs="[torch.randn(4), torch.randn(4)]"), say_nothing)
    assert found["parameters"] == ["x", "y"]


def test_other_containers_are_refused(write):
    with pytest.raises(OracleError, match="max"):
        signature(write(forward="return torch.max(x, 0)", inputs="[torch.randn(4, 4)]"), say_nothing)


def test_a_sample_is_what_the_formula_gives(write):
    found = sample(write(forward="return x * self.w", init="self.w = nn.Parameter(torch.ones(6))", inputs="[torch.rand(50, 6) + 1]"), "float32", say_nothing)
    (low, high), (weight_low, weight_high) = found["ranges"]["x"], found["ranges"]["w"]
    assert 1 <= low < high <= 2 and (weight_low, weight_high) == (0.5, 1.5)
    x = torch.from_numpy(low + (high - low) * uniform(0, 300)).float().double()
    weight = torch.from_numpy(weight_low + (weight_high - weight_low) * uniform(1, 6)).float().double()
    expected = (x.reshape(50, 6) * weight).reshape(-1)
    (output,) = found["outputs"]
    assert len(output["places"]) > 100 and output["places"][0] == 0 and output["places"][-1] == 299
    for place, value, tolerance in zip(output["places"], output["values"], output["tolerance"], strict=True):
        assert abs(float(expected[place]) - value) < 1e-12 and 0 < tolerance < 1e-3


def test_where_no_formula_helps_it_says_so(write):
    found = sample(write(forward="return x + self.m", init="self.register_buffer('m', torch.tensor([0.0, float('-inf')]))", inputs="[torch.randn(4, 2)]"), "float32", say_nothing)
    assert "'m'" in found["why_not"]


def test_numbers_are_the_same_everywhere():
    assert uniform(3, 5)[:2].tolist() == uniform(3, 2).tolist() and uniform(3, 2).tolist() != uniform(4, 2).tolist()
    assert (uniform(0, 1000) < 1).all() and (uniform(0, 1000) >= 0).all() and 0.45 < uniform(0, 1000).mean() < 0.55
