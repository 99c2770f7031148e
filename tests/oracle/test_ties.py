"""Positions among equal values, and inputs on which equal values would decide."""

import pytest
import torch
from safetensors.torch import load_file

GATED = """
scores = torch.softmax(x, -1)
kept, places = torch.topk(scores, 2)
return torch.zeros_like(x).scatter(1, places, kept)
"""


def ties_of(made):
    return load_file(made.folder / "ties.safetensors") if made.json["ties"] else {}


@pytest.mark.parametrize("forward, lines, distinct", [
    ("return torch.topk(x, 3)", [[row] * 3 for row in range(4)], True),
    ("return x, torch.topk(x, 3, dim=0)[1].t().to(torch.int32)[:2]", [[0, 0, 0], [1, 1, 1]], True),
    ("return torch.sort(x, descending=True)", [[row] * 6 for row in range(4)], True),
    ("return x, torch.argsort(x)[:, :2]", [[row] * 2 for row in range(4)], True),
    ("return x, torch.argmax(x, 1)", [0, 1, 2, 3], False),
    ("return x, torch.argmin(x, 0, keepdim=True)", [[0, 1, 2, 3, 4, 5]], False),
    ("return x, torch.argmax(x)", 0, False),
    ("return torch.max(x, 1)", [0, 1, 2, 3], False),
    ("return torch.median(x, 1)", [0, 1, 2, 3], False),
    ("return torch.mode(x, 1)", [0, 1, 2, 3], False),
    ("return torch.kthvalue(x, 2)", [0, 1, 2, 3], False),
    ("return F.max_pool1d(x, 3, return_indices=True)", [[0, 0], [1, 1], [2, 2], [3, 3]], False),
    ("return x, torch.topk(x, 1)[1].expand(4, 3)", [[row] * 3 for row in range(4)], False),
])
def test_positions_come_with_what_they_select_from(write, materialised, forward, lines, distinct):
    problem = write(forward=forward, inputs="[torch.randn(4, 6)]")
    ties = ties_of(materialised(problem, distribution="zeros"))
    assert ties["out1.lines"].tolist() == lines
    assert not ties["out1.values"].any() and not ties["out1.room"].any()
    assert bool(ties["out1.distinct"]) is distinct
    assert ties_of(materialised(problem)) == {}, "no ties, nothing to judge by"


def test_only_lines_with_ties_are_judged_by_values(write, materialised):
    problem = write(forward="return x, torch.argmax(x, 1)", inputs="[torch.tensor([[1., 2, 3], [5, 5, 4], [7, 6, 6]])]")
    ties = ties_of(materialised(problem))
    assert ties["out1.lines"].tolist() == [-1, 0, -1] and ties["out1.values"].tolist() == [[5, 5, 4]]


def test_values_that_tie_to_eagers_precision_tie(write, materialised):
    forward = "y = x @ x.T\nreturn y, torch.argmax(torch.cat([y, y.flip(1) * (1 + 1e-7)], 1), 1)"
    ties = ties_of(materialised(write(forward=forward, inputs="[torch.randn(8, 1000)]")))
    assert (ties["out1.room"] > 0).all() and (ties["out1.room"] < 0.1).all()


@pytest.mark.parametrize("forward", [
    "return x, torch.sort(x, stable=True)[1]",                  # the order among equals is asked for
    "return x, torch.argmax(x, 1) + 1",                         # a number, not a position
    "y = x.clone()\nplaces = torch.argmax(y, 1)\ny.fill_(2)\nreturn y, places",  # what was selected from is gone
    "return x, torch.max(x, x)",
    "return x, torch.searchsorted(x.sort(1).values, x)",
])
def test_what_is_no_position_is_exact(write, materialised, forward):
    assert ties_of(materialised(write(forward=forward, inputs="[torch.randn(4, 6)]"), distribution="zeros")) == {}


@pytest.mark.parametrize("forward", [GATED, "return torch.argmax(x, 1) * 2.5"])
def test_inputs_on_which_ties_decide_are_left_out(write, materialised, forward):
    problem = write(forward=forward, inputs="[torch.randn(4, 6)]")
    made = materialised(problem, distribution="zeros")
    assert made.json["distribution_used"] != "zeros" and any("equal values" in note for note in made.json["notes"])
    assert materialised(problem, distribution="mixed").json["distribution_used"] == "mixed"
    assert materialised(problem).json["notes"] == []


@pytest.mark.parametrize("write_to_places", [
    "return torch.zeros(3, 5).scatter(1, i, x)",
    "y = torch.zeros(3, 5)\ny[torch.arange(3)[:, None], i] = x\nreturn y",
    "return torch.zeros(3, 5).index_copy(1, i[0], x)",
])
def test_writes_to_one_place_are_named(write, materialised, write_to_places):
    double = write(forward=write_to_places, inputs="[torch.randn(3, 4), torch.tensor([[0, 1, 1, 2]] * 3)]", arguments="x, i")
    assert any("several writes" in note for note in materialised(double).json["notes"])
    single = write(forward=write_to_places, inputs="[torch.randn(3, 4), torch.tensor([[0, 1, 4, 2]] * 3)]", arguments="x, i")
    assert materialised(single).json["notes"] == []
    assert materialised(double, distribution="mixed").json["distribution_used"] == "mixed", "its own inputs tie as well"
