"""Initial weights with drawn values where a module sets constants: the same in two modules that share a seed and no names."""

import json
import pathlib

import pytest
import torch
import torch.nn as nn
from safetensors.torch import load_file

from kw_oracle.materialise import Order, materialise
from kw_seeded import DrawnConstants, is_running


def built(make, seed=5, statistics=()):
    torch.manual_seed(seed)
    with DrawnConstants(seed, lambda name, value, count: is_running(name) or (value, count) in statistics) as drawn:
        model = make()
        drawn.finish(model)
    return model


class Normal(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(64), nn.LayerNorm(64)
        self.batch = nn.BatchNorm1d(48)
        self.product = nn.Linear(64, 32)


def test_no_weight_is_known_and_none_that_was_random_changes():
    model, other = built(Normal), built(Normal, seed=6)
    for (name, tensor), changed in zip(model.state_dict().items(), other.state_dict().values()):
        if tensor.is_floating_point():
            assert tensor.unique().numel() > tensor.numel() // 2 and not torch.equal(tensor, changed), name
    assert (model.batch.running_var > 0).all()
    assert not torch.equal(model.first.weight, model.second.weight)
    torch.manual_seed(5)
    assert torch.equal(Normal().product.weight, model.product.weight)


def by_hand():
    model = nn.Module()
    model.b1 = nn.Parameter(torch.zeros(1, 64))
    model.s1 = nn.Parameter(torch.empty(64))
    with torch.no_grad():
        model.s1.fill_(1)
    made = nn.LayerNorm(64)
    model.s2, model.b2 = made.weight, nn.Parameter(made.bias.detach().clone())
    return model


def filled_again():
    model = Normal()
    for each in model.modules():
        if isinstance(each, nn.LayerNorm):
            nn.init.constant_(each.weight, 1.0)
            each.bias.data.zero_()
    return model


def replaced_data():
    model = Normal()
    model.first.weight.data = torch.ones(64)
    return model


@pytest.mark.parametrize("make", [filled_again, Normal])
def test_filling_a_parameter_again_gives_the_same_values(make):
    for mine, given in zip(built(make).state_dict().values(), built(Normal).state_dict().values()):
        assert torch.equal(mine, given)


def test_what_memory_holds_before_it_is_written_is_no_constant():
    size = 9_000_000  # so much comes from the system, as zeros

    def written_at_once():
        model = nn.Module()
        model.weight, model.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        return model

    for mine, given in zip(built(written_at_once).state_dict().values(), built(lambda: nn.LayerNorm(size)).state_dict().values()):
        assert torch.equal(mine, given)


def test_other_names_orders_and_ways_to_make_them():
    given, mine = built(Normal), built(by_hand)
    assert torch.equal(mine.s1, given.first.weight) and torch.equal(mine.b1[0], given.first.bias)
    assert torch.equal(mine.s2, given.second.weight) and torch.equal(mine.b2, given.second.bias)


def test_constants_set_past_the_operators_are_drawn_too():
    assert built(replaced_data).first.weight.unique().numel() > 32


def test_what_is_packed_when_it_is_built_is_made_of_drawn_values():
    def packed():
        model, norm = nn.Module(), nn.BatchNorm1d(48)
        model.scale = nn.Parameter(norm.weight.detach() * torch.rsqrt(norm.running_var + norm.eps))
        return model

    norm = built(Normal).batch
    assert torch.equal(built(packed).scale, norm.weight * torch.rsqrt(norm.running_var + norm.eps))


def test_running_statistics_under_other_names_and_masks_that_stay():
    def make():
        model = nn.Module()
        model.register_buffer("average", torch.zeros(48))
        model.register_buffer("variance", torch.ones(48))
        model.register_buffer("mask", torch.ones(6, 6))
        return model

    norm, mine = built(Normal).batch, built(make, statistics={(0.0, 48), (1.0, 48)})
    assert torch.equal(mine.average, norm.running_mean) and torch.equal(mine.variance, norm.running_var)
    assert torch.equal(mine.mask, torch.ones(6, 6))


def test_a_set_with_such_weights_names_those_that_are_known_all_the_same(write, tmp_path):
    problem = write("""
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.mix = nn.Parameter(torch.eye(16))
    def forward(self, x):
        return self.norm(x) @ self.mix
def get_inputs():
    return [torch.randn(8, 16)]
def get_init_inputs():
    return []
""")
    folder = str(tmp_path / "set")
    materialise(Order(problem, 1, "given", "seeded", 7, folder, "float32"), lambda _text: None)
    described = json.loads((pathlib.Path(folder) / "set.json").read_text())
    weights = load_file(pathlib.Path(folder) / "weights.safetensors")
    assert described["known_weights"] == ["mix"] and described["weights_used"] == "seeded"
    assert weights["norm.weight"].unique().numel() > 8
