"""Names, identifiers, strides and the order of what a kernel is given."""

import re

import torch
from kw_oracle.tensors import c_identifier, copy_of, memory_of, span_of


def names(specs) -> list[str]:
    return [spec["name"] for spec in specs]


def test_inputs_are_named_after_forwards_arguments(described):
    result = described(forward="return a + s * b['k'] + c[0] * c[1] + rest[0]", arguments="a, b, c, s, *rest",
                       inputs="[torch.ones(2), {'k': torch.ones(2)}, [torch.ones(2), (torch.ones(2))], 2.5, torch.ones(2)]")
    assert names(result["inputs"]) == ["a", "b.k", "c.0", "c.1", "s", "rest.0"]
    assert [spec["c_name"] for spec in result["inputs"]] == ["a", "b_k", "c_0", "c_1", "s", "rest_0"]
    assert result["inputs"][4] == {"name": "s", "c_name": "s", "dtype": "float64", "kind": "scalar", "shape": [],
                                   "strides": [], "span": 0, "value": 2.5}


def test_integer_and_bool_scalars(described):
    result = described(forward="return x.sum(dim, keep)", arguments="x, dim, keep", inputs="[torch.randn(3, 4), 1, True]")
    assert [(spec["dtype"], spec["value"]) for spec in result["inputs"][1:]] == [("int64", 1), ("bool", 1)]
    assert result["outputs"][0]["shape"] == [3, 1]


def test_none_and_strings_are_no_arguments(described):
    result = described(forward="return x if mask is None else x * 2", arguments="x, mask, mode",
                       inputs="[torch.randn(3), None, 'plain']")
    assert names(result["inputs"]) == ["x"] and result["graph"]


def test_names_that_clash(described):
    result = described(forward="return self.out * out + self.x * x", arguments="x, out",
                       init="self.x = nn.Parameter(torch.randn(4))\nself.out = nn.Parameter(torch.randn(4))",
                       inputs="[torch.randn(4), torch.randn(4)]")
    everything = result["inputs"] + result["parameters"] + result["outputs"]
    assert names(result["parameters"]) == ["x", "out"]
    assert len(set(names(everything))) == 5 and len({spec["c_name"] for spec in everything}) == 5


def test_c_identifiers():
    taken = set()
    odd = ["x", "x", "float", "lambda", "global", "x_dim0", "1st", "a.b", "a_b", "_Up", "a__b", "é", "", "linux", "state", "kw_kernel", "class", "a.b_2"]
    made = [c_identifier(name, taken) for name in odd]
    assert len(set(made)) == len(odd)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and "__" not in name for name in made)
    assert not {"float", "class", "linux", "state", "lambda", "global", "x_dim0"} & set(made) and not any(name.startswith("kw_") for name in made)


def test_strides_and_span(described):
    result = described(forward="return a.sum() + b.sum() + c.sum() + d.sum() + e", arguments="a, b, c, d, e",
                       inputs="[torch.randn(4, 6).t(), torch.randn(4, 6)[:, ::2], torch.randn(4, 1).expand(4, 5), "
                              "torch.randn(0, 3), torch.tensor(2.0)]")
    seen = [(spec["shape"], spec["strides"], spec["span"]) for spec in result["inputs"]]
    assert seen == [([6, 4], [1, 6], 24), ([4, 3], [6, 2], 23), ([4, 5], [1, 0], 4), ([0, 3], [3, 1], 0), ([], [], 1)]


def test_outputs_are_contiguous_and_named(described):
    result = described(forward="return {'a': x.t(), 'b': (x, None, x[0])}", inputs="[torch.randn(4, 6)]")
    assert [(spec["name"], spec["shape"], spec["strides"]) for spec in result["outputs"]] == [
        ("out.a", [6, 4], [4, 1]), ("out.b.0", [4, 6], [6, 1]), ("out.b.2", [6], [1])]
    assert names(described(forward="return x", inputs="[torch.randn(4)]")["outputs"]) == ["out"]
    assert names(described(forward="return x, x * 2", inputs="[torch.randn(4)]")["outputs"]) == ["out0", "out1"]


def test_outputs_keep_their_memory_format(described):
    result = described(forward="return x * 2, F.max_pool2d(x, 2), y + 1, x[:, :1], x[:, :2], x.transpose(0, 1), x.sum(1)", arguments="x, y",
                       inputs="[torch.randn(2, 3, 4, 6).to(memory_format=torch.channels_last), "
                              "torch.randn(2, 3, 4, 2, 5).to(memory_format=torch.channels_last_3d)]")
    assert [spec["strides"] for spec in result["outputs"]] == [
        [72, 1, 18, 3], [18, 1, 9, 3], [120, 1, 30, 15, 3], [24, 24, 6, 1], [48, 24, 6, 1], [48, 24, 6, 1], [24, 6, 1]]


def test_parameters_in_state_dict_order_then_attributes(described):
    init = """
        self.table = torch.arange(4.0)
        self.b = nn.BatchNorm1d(4)
        self.a = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.a.weight
        self.register_buffer('kept', torch.ones(4))
        self.register_buffer('loose', torch.ones(4), persistent=False)
        self.parts = [torch.ones(4), 3]
    """
    result = described(forward="return self.tied(self.a(self.b(x))) * self.table + self.kept + self.loose + self.parts[0]",
                       init=init, inputs="[torch.randn(3, 4)]")
    assert [(spec["name"], spec["kind"]) for spec in result["parameters"]] == [
        ("kept", "buffer"), ("b.weight", "parameter"), ("b.bias", "parameter"), ("b.running_mean", "buffer"),
        ("b.running_var", "buffer"), ("b.num_batches_tracked", "buffer"), ("a.weight", "parameter"), ("a.bias", "parameter"),
        ("tied.weight", "parameter"), ("tied.bias", "parameter"), ("loose", "attribute"), ("table", "attribute"),
        ("parts.0", "attribute")]
    used = {node["tensor"] for node in result["graph"]["nodes"] if node["kind"] == "placeholder"}
    assert {"table", "loose", "parts.0", "x"} <= used


def test_copies_keep_gaps_and_overlaps():
    base = torch.arange(24.0).view(4, 6)
    for tensor in (base[1:, ::2], base.t(), base[:, :1].expand(4, 5), base.view(-1).unfold(0, 4, 2), base[:0], base[0, 0]):
        copy = copy_of(tensor)
        assert copy.stride() == tensor.stride() and torch.equal(copy, tensor)
        assert memory_of(copy).numel() == span_of(tensor.shape, tensor.stride())
        assert copy.numel() == 0 or copy.data_ptr() != tensor.data_ptr()
