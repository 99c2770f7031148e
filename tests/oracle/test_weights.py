"""Fresh weights: nothing that a kernel could take for ones, zeros or an identity."""

import torch

NORMS = dict(
    forward="return self.n(self.b(self.l(x))) * self.mask + self.scale",
    init="self.l = nn.Linear(8, 16)\nself.b = nn.BatchNorm1d(16)\nself.n = nn.LayerNorm(16)\n"
         "self.scale = nn.Parameter(torch.ones(1))\nself.mask = torch.ones(16)\nself.z = nn.Parameter(torch.zeros(16, 8))",
    inputs="[torch.randn(32, 8)]")


def test_given_weights_are_the_modules_own(write, materialised):
    made = materialised(write(**NORMS))
    assert made.weights["n.weight"].eq(1).all() and made.weights["b.running_mean"].eq(0).all()
    assert made.answer["weights_used"] == "given"


def test_fresh_weights(write, materialised):
    path = write(**NORMS)
    given, fresh = materialised(path), materialised(path, weights="fresh")
    for name in ("n.weight", "b.weight", "b.running_var"):
        assert 0.5 <= fresh.weights[name].min() and fresh.weights[name].max() <= 1.5 and fresh.weights[name].std() > 0.1
    for name in ("n.bias", "b.bias", "b.running_mean"):
        assert 0.1 < fresh.weights[name].std() < 1.5
    assert fresh.weights["z"].std() > 0.1 and fresh.weights["scale"].item() != 1
    ratio = fresh.weights["l.weight"].std() / given.weights["l.weight"].std()
    assert 0.7 < ratio < 1.4 and not torch.equal(fresh.weights["l.weight"], given.weights["l.weight"])
    assert fresh.weights["mask"].eq(1).all() and fresh.weights["b.num_batches_tracked"] == 0
    assert fresh.answer["weights_used"] == "fresh" and fresh.answer["notes"] == []


def test_fresh_weights_follow_their_seed_alone(write, materialised):
    path = write(**NORMS)
    first = materialised(path, weights="fresh", weights_seed=4, seed=1)
    same = materialised(path, weights="fresh", weights_seed=4, seed=2, distribution="scaled")
    other = materialised(path, weights="fresh", weights_seed=5, seed=1)
    assert torch.equal(first.weights["l.weight"], same.weights["l.weight"])
    assert torch.equal(first.weights["n.weight"], same.weights["n.weight"])
    assert not torch.equal(first.weights["l.weight"], other.weights["l.weight"])


def test_weights_that_have_to_be_positive(write, materialised):
    path = write(forward="return x * self.p.log()", init="self.p = nn.Parameter(torch.rand(64) + 0.01)",
                 inputs="[torch.randn(8, 64)]")
    made = materialised(path, weights="fresh")
    assert made.weights["p"].min() > 0 and made.answer["nonfinite"] == 0
    assert made.answer["weights_used"] == "fresh (same sign)" and len(made.answer["notes"]) == 1


def test_buffers_and_tables_stay(write, materialised):
    path = write(forward="return x * self.t * self.m", inputs="[torch.randn(4, 4)]",
                 init="self.register_buffer('t', torch.arange(4.0))\nself.register_buffer('m', torch.eye(4), persistent=False)")
    made = materialised(path, weights="fresh")
    assert torch.equal(made.weights["t"], torch.arange(4.0)) and torch.equal(made.weights["m"], torch.eye(4))


def test_zeros_in_a_parameter_stay_in_place(write, materialised):
    path = write(forward="return x @ self.w", init="self.w = nn.Parameter(torch.randn(16, 16).tril())",
                 inputs="[torch.randn(4, 16)]")
    weight = materialised(path, weights="fresh").weights["w"]
    assert weight.triu(1).eq(0).all() and weight.tril().count_nonzero() == 136
