"""The reference keeps the digits of results that PyTorch's own float64 loses."""

import math

import pytest
import torch

FAR = "[torch.tensor([-20.0, -12.0, -9.0, -8.5, -1.0, 0.0, 3.0, 40.0])]"


def exact(x: float, approximate: str) -> float:
    if approximate == "none":
        return 0.5 * x * math.erfc(-x / math.sqrt(2))
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x / (1 + math.exp(-2 * u)) if u > -300 else x * math.exp(2 * u)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_tail_of_gelu_is_in_the_reference(write, materialised, approximate):
    made = materialised(write(forward=f"return F.gelu(x, approximate='{approximate}')", inputs=FAR))
    x = made.inputs["x"].tolist()
    for value, reference in zip(x, made.reference["out"].tolist()):
        assert reference == pytest.approx(exact(value, approximate), rel=1e-12, abs=1e-300)
    assert made.reference["out"][2] != 0 and made.reference["out"].dtype == torch.float64
    assert torch.equal(made.eager["out"], torch.nn.functional.gelu(made.inputs["x"], approximate=approximate)), "eager is as it is"


def test_ends_of_the_range_are_as_pytorch_has_them(write, materialised):
    made = materialised(write(forward="return F.gelu(x)", inputs="[torch.tensor([float('inf'), float('-inf'), float('nan'), -3e38, 3e38])]"))
    own = torch.nn.functional.gelu(made.inputs["x"].double())
    assert torch.equal(made.reference["out"].isnan(), own.isnan()) and torch.equal(made.reference["out"].nan_to_num(), own.nan_to_num())
