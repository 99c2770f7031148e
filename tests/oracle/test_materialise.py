"""Sets on disk: what is in the files, what is kept when a distribution does not fit, and what happens to a full disk."""

import json
import math
import pathlib

import pytest
import torch
from oracle_rig import Process
from safetensors.torch import load_file
from kw_oracle.distributions import DISTRIBUTIONS
from kw_oracle.errors import OracleError

LINEAR = dict(forward="return self.l(x)", init="self.l = nn.Linear(8, 6)", inputs="[torch.randn(4, 8)]")


def test_given_is_the_problems_own(write, materialised):
    made = materialised(write(**LINEAR), seed=5)
    torch.manual_seed(5)
    assert torch.equal(made.inputs["x"], torch.randn(4, 8))
    exact = made.inputs["x"].double() @ made.weights["l.weight"].double().T + made.weights["l.bias"].double()
    assert made.reference["out"].dtype == torch.float64 and torch.allclose(made.reference["out"], exact, rtol=1e-13)
    assert made.eager["out"].dtype == torch.float32 and torch.allclose(made.eager["out"].double(), exact, atol=1e-5)
    assert made.answer["distribution_used"] == "given" and made.answer["nonfinite"] == 0 and made.answer["notes"] == []


def test_the_same_order_gives_the_same_set(write, materialised):
    path = write(**LINEAR)
    for distribution in DISTRIBUTIONS:
        first, again = (materialised(path, distribution=distribution, weights="fresh") for _ in range(2))
        assert torch.equal(first.inputs["x"], again.inputs["x"])
        assert torch.equal(first.reference["out"], again.reference["out"])


def test_another_seed_gives_another_set(write, materialised):
    path = write(**LINEAR)
    first, other = materialised(path, seed=1), materialised(path, seed=2)
    assert not torch.equal(first.inputs["x"], other.inputs["x"])
    assert torch.equal(first.weights["l.weight"], other.weights["l.weight"])


def test_strided_tensors_are_stored_as_memory(write, materialised):
    made = materialised(write(forward="return (a.sum(1), b * 1)", arguments="a, b",
                              inputs="[torch.arange(24.0).view(4, 6).t(), torch.arange(12.0).view(3, 4)[:, ::2]]"))
    assert torch.equal(made.inputs["a"], torch.arange(24.0)) and torch.equal(made.inputs["b"], torch.arange(11.0))
    assert torch.equal(made.reference["out1"], torch.arange(12.0, dtype=torch.float64).view(3, 4)[:, ::2])


def test_what_is_compared_lies_as_eagers_output_does(write, materialised):
    # In float64 the other branch is taken, which gives another layout.
    made = materialised(write(forward="y = x * 2\nreturn y.contiguous() if y.dtype == torch.float64 else y",
                              inputs="[torch.arange(24.0).view(1, 2, 3, 4).to(memory_format=torch.channels_last)]"))
    in_memory = torch.arange(24.0).view(2, 12).t().reshape(-1) * 2
    assert torch.equal(made.eager["out"].reshape(-1), in_memory)
    assert torch.equal(made.reference["out"].reshape(-1), in_memory.double())


def test_empty_scalar_and_no_weights(write, materialised):
    made = materialised(write(forward="return x * s + i", arguments="x, s, i, e",
                              inputs="[torch.tensor(2.0), 1.5, 3, torch.randn(0, 4)]"))
    assert made.weights == {} and made.json["scalars"] == {"s": 1.5, "i": 3} and made.inputs["e"].numel() == 0
    assert made.reference["out"].item() == 6.0


def test_float_numbers_vary_and_integers_do_not(write, materialised):
    path = write(forward="return x * s + i", arguments="x, s, i", inputs="[torch.randn(4), 2.0, 3]")
    made = materialised(path, distribution="shifted")
    assert made.json["scalars"]["i"] == 3 and 1 <= made.json["scalars"]["s"] <= 3 and made.json["scalars"]["s"] != 2.0
    expected = made.inputs["x"].double() * made.json["scalars"]["s"] + 3
    assert torch.allclose(made.reference["out"], expected)


@pytest.mark.parametrize("forward", [
    "return torch.zeros(8, 8) + self.w @ x + 0.1",
    "return self.w @ x.float() + torch.zeros(8, dtype=torch.float32)",
    "return torch.matmul(torch.tensor([[0.5] * 8], dtype=torch.float32), self.w @ x).float()",
    "return (self.w @ x).to(torch.float32).exp().log()",
    "y = torch.empty(4, 8, dtype=torch.float32)\ny.copy_(x[:4])\nreturn y @ self.w",
])
def test_types_named_in_forward_do_not_blunt_the_reference(write, materialised, forward):
    made = materialised(write(forward=forward, init="self.w = torch.randn(8, 8)", inputs="[torch.randn(8, 8)]"))
    assert made.reference["out"].dtype == torch.float64 and made.answer["notes"] == []
    assert not torch.equal(made.reference["out"], made.reference["out"].float().double())


def test_reference_falls_back_with_a_note(write, materialised):
    made = materialised(write(forward="assert x.dtype == torch.float32\nreturn x * 3", inputs="[torch.randn(4)]"))
    assert torch.equal(made.reference["out"], made.eager["out"].double()) and made.reference["out"].dtype == torch.float64
    assert len(made.answer["notes"]) == 1 and "eager" in made.answer["notes"][0]


def test_half_and_double_problems(write, materialised):
    half = materialised(write(forward="return self.l(x)", init="self.l = nn.Linear(8, 8).half()",
                              inputs="[torch.randn(4, 8).half()]"))
    assert half.eager["out"].dtype == torch.float16 and half.reference["out"].dtype == torch.float64
    assert half.inputs["x"].dtype == half.weights["l.weight"].dtype == torch.float16
    double = materialised(write(forward="return self.l(x)", init="self.l = nn.Linear(8, 8).double()",
                                inputs="[torch.randn(4, 8).double()]"))
    assert double.eager["out"].dtype == torch.float32 and double.reference["out"].dtype == torch.float64
    error = (double.eager["out"].double() - double.reference["out"]).abs().max()
    assert 0 < error < 1e-5 and double.inputs["x"].dtype == torch.float64


def test_integer_outputs_keep_their_type(write, materialised):
    made = materialised(write(forward="return x.argmax(-1), x > 0, x.int()", inputs="[torch.randn(4, 8)]"))
    assert [made.reference[name].dtype for name in ("out0", "out1", "out2")] == [torch.int64, torch.bool, torch.int32]
    assert made.answer["notes"] == []


def test_rounding_in_integer_outputs_is_noted(write, materialised):
    made = materialised(write(forward="return (x * 3 + 1e8 - 1e8).long()", inputs="[torch.randn(64)]"))
    assert len(made.answer["notes"]) == 1 and "rounding" in made.answer["notes"][0]


@pytest.mark.parametrize("precision, least, most", [("tf32", 2**-13, 2**-8), ("bf16", 2**-10, 2**-5), ("fp16", 2**-13, 2**-8)])
def test_stated_precisions(write, materialised, precision, least, most):
    path = write(forward="return x @ self.w", init="self.w = nn.Parameter(torch.randn(64, 64))",
                 inputs="[torch.randn(64, 64)]")
    made = materialised(path, precision=precision)
    assert made.eager["out"].dtype == torch.float32 and made.inputs["x"].dtype == torch.float32
    error = (made.eager["out"].double() - made.reference["out"]).norm() / made.reference["out"].norm()
    assert least < error < most


@pytest.mark.parametrize("forward, inputs, distribution, used", [
    ("return x.log()", "torch.rand(64) + 0.5", "scaled", "scaled (same sign)"),
    ("return (x - 0.4).log()", "torch.rand(64) + 0.5", "scaled", "scaled (same range)"),
    ("return F.binary_cross_entropy(x, x)", "torch.rand(64)", "mixed", "mixed (same range)"),
    ("return x / x.norm()", "torch.randn(64)", "zeros", "given"),
    ("return x.exp()", "torch.randn(64) * 10", "mixed", "mixed (same range)"),
    ("return x.exp()", "torch.randn(64)", "shifted", "shifted"),
])
def test_tamer_variants(write, materialised, forward, inputs, distribution, used):
    made = materialised(write(forward=forward, inputs=f"[{inputs}]"), distribution=distribution)
    assert made.answer["distribution_used"] == used and made.answer["nonfinite"] == 0
    assert made.json["distribution_used"] == used and bool(made.answer["notes"]) == (used != distribution)
    assert all(tensor.isfinite().all() for tensor in [*made.reference.values(), *made.eager.values()])


def test_a_problems_own_infinities_stay(write, materialised):
    path = write(forward="return x.masked_fill(self.m, float('-inf'))", inputs="[torch.randn(4, 4)]",
                 init="self.m = torch.ones(4, 4).triu(1).bool()")
    made = materialised(path, distribution="scaled")
    assert made.answer["nonfinite"] == 6 / 16 and made.answer["distribution_used"] == "scaled"


def test_inputs_are_those_before_the_call(write, materialised):
    made = materialised(write(forward="return x.mul_(2) + i.add_(1)", arguments="x, i",
                              inputs="[torch.ones(4), torch.ones(4, dtype=torch.int64)]"))
    assert made.inputs["x"].eq(1).all() and made.inputs["i"].eq(1).all() and made.reference["out"].eq(4).all()


def test_tied_weights_are_written_twice(write, materialised):
    path = write(forward="return self.b(self.a(x))", inputs="[torch.randn(3, 4)]",
                 init="self.a = nn.Linear(4, 4)\nself.b = nn.Linear(4, 4)\nself.b.weight = self.a.weight")
    for weights in ("given", "fresh"):
        made = materialised(path, weights=weights)
        assert torch.equal(made.weights["a.weight"], made.weights["b.weight"])
        assert not torch.equal(made.weights["a.bias"], made.weights["b.bias"])


def test_a_folder_that_cannot_be_made(write, materialised, tmp_path):
    (tmp_path / "set0").write_text("a file")
    with pytest.raises(OracleError) as caught:
        materialised(write(**LINEAR))
    assert caught.value.kind == "bad_request" and "set0" in caught.value.message


def limit_file_size():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def test_no_space_leaves_no_half_files(write, tmp_path):
    """A limit on the size of files fails in the same place as a full disk."""
    path = write(forward="return x[:1]", inputs="[torch.randn(100000)]")
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "set.json").write_text("{}")
    process = Process(preexec_fn=limit_file_size)
    answer = process.ask("materialise", problem=path, seed=1, distribution="given", folder=str(folder))
    assert answer["error"]["kind"] == "no_space" and str(folder) in answer["error"]["message"]
    assert list(folder.iterdir()) == []
    assert process.ask("hello")["ok"]
    process.close()


def test_over_the_pipe(process, write, tmp_path):
    folder = tmp_path / "a" / "b"
    answer = process.ask("materialise", problem=write(**LINEAR), seed=2**64 - 1, distribution="mixed", weights="fresh",
                         weights_seed=7, folder=str(folder))
    assert answer["ok"] and {"notes", "distribution_used", "nonfinite", "seconds"} <= set(answer["result"])
    names = {file.name for file in pathlib.Path(folder).iterdir()}
    assert names == {"inputs.safetensors", "weights.safetensors", "reference.safetensors", "eager.safetensors", "set.json"}
    assert math.isfinite(json.loads((folder / "set.json").read_text())["nonfinite"])


def test_what_flushed_inputs_give_is_told_where_it_is_finite(write, materialised):
    guarded = materialised(write(forward="return x / (x.abs().sum(1, keepdim=True) + 1e-12)", inputs="[torch.randn(64, 32)]"),
                           distribution="subnormal")
    x, far = guarded.inputs["x"], load_file(guarded.folder / "flushed.safetensors")["out"]
    tiny = (x != 0) & (x.abs() < torch.finfo(x.dtype).smallest_normal)
    assert tiny.all(1).any() and torch.equal(far != 0, tiny)
    assert torch.allclose(guarded.reference["out"] + far, torch.where(tiny, 0.0, guarded.reference["out"]), atol=0)
    open_sum = materialised(write(forward="return x / x.abs().sum(1, keepdim=True)", inputs="[torch.randn(64, 32)]"),
                            distribution="subnormal")
    x, far = open_sum.inputs["x"], load_file(open_sum.folder / "flushed.safetensors")["out"]
    row = ((x != 0) & (x.abs() < torch.finfo(x.dtype).smallest_normal)).all(1)
    assert row.sum() == 1 and not far[row].any(), "0 / 0 is no answer that may stand in for a number"
    assert not materialised(write(**LINEAR), distribution="scaled").json["flushed"]
