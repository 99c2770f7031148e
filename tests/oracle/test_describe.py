"""What describe finds out by trying: bytes, sensitivity, and what is odd about a problem."""

import pytest


def test_all_fields_are_there(described):
    result = described(forward="return x * 2", inputs="[torch.randn(4, 8)]")
    assert set(result) == {"name", "file", "source_hash", "torch", "inputs", "parameters", "outputs", "call", "graph", "graph_error",
                           "flops", "bytes", "essential_bytes", "eager_bytes", "sensitivity", "notes"}
    assert len(result["source_hash"]) == 64 and result["name"] == "problem0" and result["notes"] == []


@pytest.mark.parametrize("parts, total, essential", [
    (dict(forward="return a + b", arguments="a, b", inputs="[torch.randn(64), torch.randn(64)]"), 768, 768),
    (dict(forward="return a[:, :32] * 1", arguments="a", inputs="[torch.randn(8, 64)]"), 3072, 1024),
    (dict(forward="return a * 1", arguments="a, unused", inputs="[torch.randn(64), torch.randn(64)]"), 768, 512),
    (dict(forward="return a.expand(8, 64) * 1", arguments="a", inputs="[torch.randn(1, 64).expand(8, 64)]"), 2304, 2304),
    (dict(forward="return self.e(i)", arguments="i", init="self.e = nn.Embedding(1000, 8)",
          inputs="[torch.randint(0, 1000, (16,))]"), 32640, 512),
    (dict(forward="return a.tril() @ b", arguments="a, b", inputs="[torch.randn(32, 32).tril(), torch.randn(32, 32)]"),
     12288, 8192),
])
def test_bytes(described, parts, total, essential):
    result = described(**parts)
    assert (result["bytes"], result["essential_bytes"]) == (total, essential)


def test_zeros_in_place_need_not_be_read(described):
    result = described(forward="return a @ b", arguments="a, b", inputs="[torch.randn(32, 32).tril(), torch.randn(32, 32)]")
    assert result["essential_bytes"] == 8192 + 4 * (32 * 33 / 2)


@pytest.mark.parametrize("parts", [
    dict(forward="return torch.softmax(x * 1e-9, -1)", inputs="[torch.rand(4, 512)]"),
    dict(forward="return torch.clamp(x + 10, 0, 1)", inputs="[torch.rand(4, 512)]"),
    dict(forward="return F.layer_norm(x, (512,)).mean(-1)", inputs="[torch.rand(64, 512)]"),
    dict(forward="return self.w * 2", arguments="*nothing", init="self.w = nn.Parameter(torch.randn(5))", inputs="[]"),
    dict(forward="return 5 + x * 1e-7", inputs="[torch.rand(4, 512)]"),
    dict(forward="return x * 2", inputs="[torch.ones(64)]"),
])
def test_problems_that_say_little(described, parts):
    sensitivity = described(**parts)["sensitivity"]
    assert sensitivity["telling"] is False and len(sensitivity["note"]) > 20


@pytest.mark.parametrize("parts", [
    dict(forward="return x * 2", inputs="[torch.randn(64)]"),
    dict(forward="return x.mean()", inputs="[torch.randn(64)]"),
    dict(forward="return F.relu(x - 1)", inputs="[torch.randn(64, 64)]"),
    dict(forward="return x.argmax(-1)", inputs="[torch.randn(64, 64)]"),
    dict(forward="return x[:, ::2] + 1", inputs="[torch.randint(0, 1000, (64, 64))]"),
    dict(forward="return torch.softmax(x, -1)", inputs="[torch.randn(8, 64)]"),
])
def test_problems_that_tell(described, parts):
    sensitivity = described(**parts)["sensitivity"]
    assert sensitivity["telling"] is True and sensitivity["note"] == ""
    assert sensitivity["other_input"] >= 0 and sensitivity["zeros"] >= 0


def test_inputs_that_are_always_the_same_are_shifted(described):
    sensitivity = described(forward="return x * 2", inputs="[torch.arange(64.0)]")["sensitivity"]
    assert sensitivity["telling"] and sensitivity["other_input"] > 1000


def test_wider_inputs_are_recommended_where_they_help(described):
    sensitivity = described(forward="return F.hardtanh(x + 1.5)", inputs="[torch.rand(64, 64)]")["sensitivity"]
    assert not sensitivity["telling"] and "Wider" in sensitivity["note"]


@pytest.mark.parametrize("parts, said", [
    (dict(forward="x.mul_(2)\nreturn x + 1", inputs="[torch.randn(4)]"), "input 'x'"),
    (dict(forward="self.calls += 1\nreturn x + 1", init="self.register_buffer('calls', torch.zeros(()))",
          inputs="[torch.randn(4)]"), "'calls'"),
    (dict(forward="return x * self.k", init="self.k = float(torch.rand(()))", inputs="[torch.randn(4)]"), "random state"),
    (dict(forward="return x + 1e-9 * torch.randn(4)", inputs="[torch.randn(4)]"), "random numbers ('randn')"),
    (dict(forward="return x + 1", inputs="[torch.randn(4, generator=torch.Generator().manual_seed(__import__('time')"
                                         ".monotonic_ns() % 2**31))]"), "same seed"),
])
def test_odd_problems_are_noted(described, parts, said):
    notes = described(**parts)["notes"]
    assert len(notes) == 1 and said in notes[0]


def test_dropout_is_off(described):
    assert described(forward="return F.dropout(x, 0.5, self.training)", inputs="[torch.randn(4)]")["notes"] == []
