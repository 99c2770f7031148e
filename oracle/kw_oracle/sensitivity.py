"""How much a problem's output says about its input, found by trying: another input, zeros, a constant, each as a distance
on the scale of the tolerance. Never judges a kernel."""

import torch

from kw_oracle.distributions import vary
from kw_oracle.errors import OracleError
from kw_oracle.subject import Subject, same_bits
from kw_oracle.tensors import Arguments

_TOLERANCES_THAT_TELL = 10
_SAMPLE = 1 << 20
_LARGEST = 1e12


def _sampled(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.reshape(-1)
    return flat[:: max(1, flat.numel() // _SAMPLE)].double()


def _tolerance(out: torch.Tensor, reference: torch.Tensor) -> float:
    """About what a kernel may be off by: rounding at the size of the output, or a few times what eager itself is off by,
    which is more where terms cancel. 1e-6 of a step for integers, which have to be exact."""
    if not out.is_floating_point():
        return 1e-6
    finite = _sampled(out).nan_to_num(0, 0, 0)
    rms = float(finite.square().mean().sqrt()) if finite.numel() else 0.0
    noise = (_sampled(out) - _sampled(reference)).abs().nan_to_num(0, 0, 0)
    cancelled = 4 * float(noise.median()) if noise.numel() else 0.0
    return max(32 * torch.finfo(out.dtype).eps * rms, cancelled) or torch.finfo(out.dtype).tiny


def _tolerances(outputs: dict, reference: dict) -> dict[str, float]:
    return {name: _tolerance(out, reference[name]) for name, out in outputs.items()}


def _distances(outputs: dict, others: dict, tolerances: dict[str, float]) -> torch.Tensor:
    """|difference| / tolerance of a sample of all elements."""
    parts = []
    for name, out in outputs.items():
        a, b = _sampled(out), _sampled(others[name])
        difference = torch.where(a == b, 0.0, (a - b).abs()).nan_to_num(0, _LARGEST, _LARGEST)
        parts.append((difference / tolerances[name]).clamp_(max=_LARGEST))
    return torch.cat(parts)


def _median(distances: torch.Tensor) -> float:
    return float(distances.median()) if distances.numel() else 0.0


def _tells(distances: torch.Tensor) -> bool:
    """A tenth of the elements is enough: outputs that are mostly zeros still tell."""
    if distances.numel() == 0:
        return False
    place = max(1, round(distances.numel() * 0.9))
    return float(distances.kthvalue(place).values) >= _TOLERANCES_THAT_TELL


def _constants(outputs: dict) -> dict:
    def mean(out: torch.Tensor) -> torch.Tensor:
        values = _sampled(out)
        finite = values[values.isfinite()]
        return torch.full_like(out, float(finite.mean()) if finite.numel() else 0.0, dtype=torch.float64)

    return {name: mean(out) for name, out in outputs.items()}


def _other_inputs(given: Arguments, others: Arguments) -> Arguments:
    """Another input of the problem's own kind; where get_inputs() gives the same for every seed, a shifted one."""
    pairs = zip(given.tensors().values(), others.tensors().values())
    if any(not same_bits(a, b) for a, b in pairs):
        return others
    return vary(given, "shifted", 1)


def _rescaled(subject: Subject, given: Arguments, others: Arguments) -> float:
    try:
        scaled = vary(given, "scaled", 0)
        outputs = subject.run(scaled)
        tolerances = _tolerances(outputs, subject.reference(scaled)[0])
        return _median(_distances(outputs, subject.run(vary(others, "scaled", 0)), tolerances))
    except OracleError:
        return 0.0


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 1000 else f"{value:.0e}"


def sensitivity_of(subject: Subject, given: Arguments, others: Arguments, outputs: dict, reference: dict) -> dict:
    others = _other_inputs(given, others)
    tolerances = _tolerances(outputs, reference)
    by_input = _distances(outputs, subject.run(others), tolerances)
    by_zeros = _distances(outputs, {name: torch.zeros_like(out) for name, out in outputs.items()}, tolerances)
    # One number is always a constant: what tells there is whether it moves with the input.
    single = all(out.numel() <= 1 for out in outputs.values())
    by_constant = by_input if single else _distances(outputs, _constants(outputs), tolerances)
    result = {"other_input": _median(by_input), "zeros": _median(by_zeros), "constant": _median(by_constant),
              "telling": True, "note": ""}
    if not given.tensors() and not given.scalars():
        note = "The problem takes no input, so a kernel that replays one output passes."
    elif not _tells(by_input):
        note = (f"With another input the output changes by only {_number(result['other_input'])} tolerances, so a kernel "
                "that ignores its input could pass on the problem's own inputs.")
        rescaled = _rescaled(subject, given, others)
        if rescaled >= _TOLERANCES_THAT_TELL:
            note += f" Wider, centred inputs make it change by {_number(rescaled)} and tell more."
    elif not _tells(by_constant):
        note = (f"The output hardly varies: it is within {_number(result['constant'])} tolerances of its own mean, so one "
                "constant could pass on the problem's own inputs.")
    else:
        return result
    return {**result, "telling": False, "note": note}
