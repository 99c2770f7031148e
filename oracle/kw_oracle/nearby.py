"""What eager errs by on inputs and weights next to those of a set. On one set alone its roundings may happen to cancel, and who errs as eager
usually does would look worse than it; numbers that differ in their last digits have the same condition and other roundings."""

import pathlib

import torch

from kw_oracle.distributions import redraw_nearby, weights_nearby
from kw_oracle.errors import OracleError
from kw_oracle.loading import load_problem
from kw_oracle.precision import eager_in
from kw_oracle.storage import write_tensors
from kw_oracle.stored_set import stored_inputs, stored_subject
from kw_oracle.subject import blocks
from kw_oracle.tensors import all_laid_out_as, copy_of

_ROUNDS = 6


def _grow(noise: torch.Tensor, eager: torch.Tensor, reference: torch.Tensor) -> None:
    for most, one, other in blocks(noise, eager, reference):
        distance = (one.double() - other).abs_()
        torch.maximum(most, distance.nan_to_num_(nan=0.0, posinf=0.0), out=most)


def nearby_noise(file: str, folder: str, precision: str, progress) -> dict:
    """Writes nearby.safetensors: for each floating output the largest |eager - reference| of some rounds, element by element."""
    path = pathlib.Path(folder)
    subject = stored_subject(load_problem(file), path)
    given = stored_inputs(subject, path)
    progress("looking at eager's error on inputs next to these")
    weights = {name: tensor.clone() for name, tensor in subject.state().items()}
    noise: dict[str, torch.Tensor] = {}
    layouts: dict[str, torch.Tensor] = {}
    rounds = 0
    for number in range(_ROUNDS):
        inputs = redraw_nearby(given, number)
        subject.install(weights_nearby(weights, number))
        try:
            own = subject.run_in_place(inputs.mapped(copy_of))
            reference, _ = subject.reference(inputs)
            eager, _ = eager_in(precision, subject, inputs, own)
        except OracleError:  # a forward() that checks its inputs
            continue
        rounds += 1
        layouts = layouts or own
        for name, out in eager.items():
            if out.is_floating_point() and out.shape == reference[name].shape:
                most = noise.setdefault(name, torch.zeros(out.shape, dtype=torch.float64))
                _grow(most, out.contiguous(), reference[name].contiguous())
    write_tensors(path / "nearby.safetensors", all_laid_out_as(noise, layouts))
    return {"rounds": rounds}
