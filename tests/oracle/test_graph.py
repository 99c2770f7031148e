"""The exported graph: complete enough to compute from, which a small interpreter here does."""

import operator

import pytest
import torch
from kw_oracle.graph import export_graph
from kw_oracle.loading import load_problem
from kw_oracle.subject import Subject

DTYPES = {"const": lambda value: value, "dtype": lambda name: getattr(torch, name), "float": float}


def interpret(graph: dict, tensors: dict, scalars: dict) -> list:
    """Runs a graph from its JSON alone."""
    values = {}

    def argument(described: dict):
        (kind, value), = described.items()
        if kind == "ref":
            return values[value]
        if kind == "list":
            return [argument(item) for item in value]
        return scalars[value] if kind == "scalar" else DTYPES[kind](value)

    for node in graph["nodes"]:
        if node["kind"] == "placeholder":
            result = tensors[node["tensor"]]
        elif node["kind"] == "constant":
            flat = [argument(value) for value in node["values"]]
            result = torch.tensor(flat, dtype=getattr(torch, node["dtype"])).view(node["shape"])
        elif node["op"] == "operator.getitem":
            result = operator.getitem(*map(argument, node["args"]))
        else:
            namespace, name, overload = node["op"].split(".")
            kwargs = {key: argument(value) for key, value in node["kwargs"].items()}
            for key, convert in (("device", torch.device), ("layout", lambda text: getattr(torch, text)), ("memory_format", lambda text: getattr(torch, text))):
                if isinstance(kwargs.get(key), str):
                    kwargs[key] = convert(kwargs[key])
            result = getattr(getattr(getattr(torch.ops, namespace), name), overload)(*map(argument, node["args"]), **kwargs)
        if isinstance(result, torch.Tensor):
            assert list(result.shape) == node["shape"] and str(result.dtype) == "torch." + node["dtype"], node
        elif "results" in node:
            assert [list(part.shape) for part in result] == [part["shape"] for part in node["results"]]
        values[node["name"]] = result
    return [values[name] for name in graph["outputs"]]


CASES = {
    "linear": dict(forward="return F.gelu(self.l(x))", init="self.l = nn.Linear(8, 6)", inputs="[torch.randn(4, 8)]"),
    "conv": dict(forward="return F.max_pool2d(self.b(self.c(x)).relu(), 2)", inputs="[torch.randn(2, 4, 8, 8)]",
                 init="self.c = nn.Conv2d(4, 6, 3, padding=1, groups=2)\nself.b = nn.BatchNorm2d(6)"),
    "in place": dict(forward="y = torch.zeros_like(x)\ny[:, 1:] = x[:, :-1]\ny[0] += 1\nreturn y.relu_()",
                     inputs="[torch.randn(4, 6)]"),
    "several results": dict(forward="a, b = x.split(3, 1)\nv, i = a.max(1)\nreturn v, i, b.topk(2, -1)[0]",
                            inputs="[torch.randn(4, 6)]"),
    "constants": dict(forward="m = torch.tensor([[0.0, float('-inf')]])\nreturn x + m, x.masked_fill(x > 0, float('inf'))",
                      inputs="[torch.randn(4, 2)]"),
    "attribute": dict(forward="return (x * self.t).to(torch.float64)", init="self.t = torch.arange(6.0)",
                      inputs="[torch.randn(4, 6)]"),
    "attribute that is written into": dict(forward="self.t.copy_(h)\nself.t = (x + self.t).tanh()\nreturn self.t * 2",
                                           init="self.t = torch.zeros(4, 6)", arguments="x, h",
                                           inputs="[torch.randn(4, 6), torch.randn(4, 6)]"),
    "scalar": dict(forward="return x * s + s", arguments="x, s", inputs="[torch.randn(4, 6), 3.25]"),
    "nested": dict(forward="return torch.cat(a) + b['k']", arguments="a, b",
                   inputs="[[torch.randn(2, 3), torch.randn(2, 3)], {'k': torch.randn(4, 3)}]"),
    "attention": dict(forward="return F.scaled_dot_product_attention(x, x, x, is_causal=True)",
                      inputs="[torch.randn(2, 3, 5, 8)]"),
    "tied": dict(forward="return self.b(self.a(x))", inputs="[torch.randn(3, 4)]",
                 init="self.a = nn.Linear(4, 4)\nself.b = nn.Linear(4, 4)\nself.b.weight = self.a.weight"),
    "inner no_grad": dict(forward="with torch.no_grad():\n    y = x * 2\nreturn y + 1", inputs="[torch.randn(3)]"),
    "half": dict(forward="return (x.float() ** 2).mean(-1).to(x.dtype)", inputs="[torch.randn(3, 8).bfloat16()]"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_graph_computes_what_the_module_does(write, case):
    subject = Subject(load_problem(write(**CASES[case])))
    inputs = subject.inputs(0)
    graph, error = export_graph(subject, inputs)
    assert error == ""
    outputs = interpret(graph, {**subject.state(), **inputs.tensors()}, inputs.scalars())
    expected = list(subject.run(inputs).values())
    assert len(outputs) == len(expected)
    for output, wanted in zip(outputs, expected):
        torch.testing.assert_close(output, wanted, equal_nan=True)


TAKEN_APART = dict(forward="v, m = torch.var_mean(self.l(x), 1, correction=1)\nreturn torch.logaddexp(x, x * s).movedim(0, -1), F.pixel_unshuffle(x[None], 2), v + m",
                   init="self.l = nn.Linear(8, 6)", arguments="x, s", inputs="[torch.randn(4, 6, 8), 1.5]")


def test_operations_are_taken_apart_where_pytorch_has_a_rule(write):
    subject = Subject(load_problem(write(**TAKEN_APART)))
    inputs = subject.inputs(0)
    whole, _ = export_graph(subject, inputs)
    named = {node["op"] for node in whole["nodes"]} & {"aten.var_mean.correction", "aten.logaddexp.default", "aten.pixel_unshuffle.default"}
    assert len(named) == 3
    graph, error = export_graph(subject, inputs, frozenset(named | {"aten.nothing.default"}))
    assert error == "" and not named & {node["op"] for node in graph["nodes"]}
    assert "aten.linear.default" in {node["op"] for node in graph["nodes"]}, "what was not named stays whole"
    outputs = interpret(graph, {**subject.state(), **inputs.tensors()}, inputs.scalars())
    for output, wanted in zip(outputs, subject.run(inputs).values(), strict=True):
        torch.testing.assert_close(output, wanted)


def test_a_number_is_linked_to_its_uses(write):
    subject = Subject(load_problem(write(**CASES["scalar"])))
    graph, _ = export_graph(subject, subject.inputs(0))
    used = [arg for node in graph["nodes"] for arg in node["args"] if "scalar" in arg]
    assert used == [{"scalar": "s"}, {"scalar": "s"}]


def test_every_argument_is_there(write):
    subject = Subject(load_problem(write(forward="return F.conv2d(x, x)", inputs="[torch.randn(1, 1, 3, 3)]")))
    graph, _ = export_graph(subject, subject.inputs(0))
    conv = graph["nodes"][-1]
    assert conv["op"] == "aten.conv2d.default" and len(conv["args"]) == 7 and conv["args"][6] == {"const": 1}


@pytest.mark.parametrize("forward, arguments, said", [
    ("return x * 2 if x.sum() > 0 else x", "x, s", "values"),
    ("return x * math.sqrt(s)", "x, s", "number"),
])
def test_no_graph_says_why(described, forward, arguments, said):
    result = described(forward="import math\n" + forward, arguments=arguments, inputs="[torch.randn(4), 2.0]")
    assert result["graph"] is None and result["flops"] is None and said in result["graph_error"]
