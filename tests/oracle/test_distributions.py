"""Each distribution changes the given values in its own way, and keeps what a problem may rely on."""

import pytest
import torch
from kw_oracle.distributions import DISTRIBUTIONS, redraw

OTHERS = [name for name in DISTRIBUTIONS if name != "given"]


def drawn(given: torch.Tensor, distribution: str, stage: int = 0, seed: int = 0) -> torch.Tensor:
    return redraw(given, distribution, stage, torch.Generator().manual_seed(seed))


@pytest.fixture
def given():
    return torch.randn(64, 48, generator=torch.Generator().manual_seed(9))


def test_scaled_is_wider(given):
    for seed in range(5):
        assert 4 <= drawn(given, "scaled", seed=seed).std() / given.std() <= 16


def test_scaled_is_centred_where_all_have_one_sign():
    values = drawn(torch.rand(64, 48), "scaled")
    assert values.min() < -1 and values.max() > 1


def test_shifted_moves_the_mean_only(given):
    values = drawn(given, "shifted")
    assert (values.mean() - given.mean()).abs() > given.std() and torch.isclose(values.std(), given.std(), rtol=1e-4)


def test_mixed_spans_magnitudes(given):
    values = drawn(given, "mixed").abs() / given.std()
    assert values.min() < 0.01 and values.max() > 10


def test_zeros_and_equal(given):
    assert drawn(given, "zeros").eq(0).all()
    equal = drawn(given, "equal")
    assert equal.unique().numel() == 1 and equal[0, 0] != 0


def test_outliers_stand_anywhere_and_at_both_ends_of_rows(given):
    values = drawn(given, "outlier")
    changed = values != given
    assert 2 <= changed.sum() <= 3 and (values[changed].abs() > 500 * given.std()).all()
    assert changed[:, 0].any() and values[:, 0].max() > 500 * given.std()
    assert changed[:, -1].any() and values[:, -1].min() < -500 * given.std()
    one_row = drawn(given[:1].clone(), "outlier")
    assert (one_row != given[:1]).sum() == 1, "what has no rows has one outlier"


def test_positional_parts_differ(given):
    values = drawn(given, "positional")
    halves = sorted((values[:32].std().item(), values[32:].std().item()))
    columns = sorted((values[:, :24].std().item(), values[:, 24:].std().item()))
    assert halves[1] > 1.5 * halves[0] and columns[1] > 1.2 * columns[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_subnormal_has_a_whole_part_of_subnormal_numbers_and_a_few_others(given, dtype):
    values = drawn(given.to(dtype), "subnormal")
    subnormal = (values != 0) & (values.abs() < torch.finfo(dtype).smallest_normal)
    assert subnormal.all(1).sum() == 1, "the sum of one row is next to nothing"
    assert 48 < subnormal.sum() <= 48 + 64 and torch.equal(values[~subnormal], given.to(dtype)[~subnormal])
    assert torch.equal(values.sign(), given.to(dtype).sign())
    scattered = drawn(given.to(dtype), "subnormal", stage=1)
    assert not (scattered.abs() < torch.finfo(dtype).smallest_normal).all(1).any(), "where no sum may be next to nothing"


@pytest.mark.parametrize("shape", [(), (1,), (7,), (1, 1), (1, 9), (2, 3), (4, 3, 8, 8)])
def test_subnormal_fits_any_shape(shape):
    given = torch.randn(shape).add(9)
    values = drawn(given, "subnormal")
    assert values.shape == given.shape and values.isfinite().all() and (values.abs() < 1.2e-38).any()


@pytest.mark.parametrize("distribution", OTHERS)
def test_the_seed_decides(given, distribution):
    assert torch.equal(drawn(given, distribution, seed=4), drawn(given, distribution, seed=4))
    if distribution != "zeros":
        assert not torch.equal(drawn(given, distribution, seed=4), drawn(given, distribution, seed=5))


@pytest.mark.parametrize("distribution", OTHERS)
def test_structure_is_kept(distribution):
    triangular = torch.randn(32, 32).tril()
    assert drawn(triangular, distribution).triu(1).eq(0).all()
    square = torch.randn(32, 32)
    symmetric = drawn(square + square.T, distribution)
    assert torch.equal(symmetric, symmetric.T)
    rows = drawn(torch.softmax(torch.randn(16, 32), -1), distribution)
    assert rows.min() >= 0 and torch.allclose(rows.sum(-1), torch.ones(16), atol=1e-4)
    labels = torch.randint(0, 2, (64,)).float() * 2 - 1
    assert torch.equal(drawn(labels, distribution), labels)
    mask = torch.zeros(8, 8).masked_fill(torch.ones(8, 8).triu(1).bool(), float("-inf"))
    assert torch.equal(drawn(mask, distribution), mask)


@pytest.mark.parametrize("distribution", OTHERS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8])
def test_integers_stay(distribution, dtype):
    given = torch.randint(0, 2, (64,)).to(dtype)
    assert torch.equal(drawn(given, distribution), given)


@pytest.mark.parametrize("distribution", OTHERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types_and_strides_stay(distribution, dtype):
    base = torch.randn(8, 12).to(dtype)
    for given in (base.t(), base[:, ::2], base[:, :1].expand(8, 5), base.view(-1).unfold(0, 6, 3), base[:0], base[0, 0]):
        before = given.clone()
        values = drawn(given, distribution)
        assert values.dtype == dtype and values.shape == given.shape and values.stride() == given.stride()
        assert values.isfinite().all() and torch.equal(given, before)


@pytest.mark.parametrize("distribution", OTHERS)
def test_tame_stages(distribution):
    given = torch.rand(64, 64) * 3 + 0.5
    assert drawn(given, distribution, stage=1).min() >= 0
    tame = drawn(given, distribution, stage=2)
    assert tame.min() >= given.min() and tame.max() <= given.max()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_inputs_vary(value):
    given = torch.full((64,), value)
    for distribution in ("shifted", "mixed", "outlier", "equal"):
        assert not torch.equal(drawn(given, distribution), given)
