"""Eager's output in a stated precision: the noise floor that a kernel of that precision is held to."""

import torch

from kw_oracle.errors import OracleError
from kw_oracle.subject import TO_BF16, TO_FP16, TO_SINGLE, Subject
from kw_oracle.tensors import Arguments, copy_of, memory_of

_LOWER = {"bf16": TO_BF16, "fp16": TO_FP16}


def rounded_to_tf32(tensor: torch.Tensor) -> torch.Tensor:
    """float32 values to the nearest with 10 bits of mantissa, ties to even; others as they are."""
    if tensor.dtype != torch.float32:
        return tensor
    copy = copy_of(tensor)
    bits = memory_of(copy).view(torch.int32)
    finite = memory_of(copy).isfinite()
    odd = (bits >> 13) & 1
    bits.copy_(torch.where(finite, (bits + 0xFFF + odd) & ~0x1FFF, bits))
    return copy


def _with_rounded_tensors(subject: Subject, inputs: Arguments, rounded) -> dict[str, torch.Tensor]:
    own = subject.state()
    subject.install({name: rounded(tensor) for name, tensor in own.items()})
    try:
        return subject.run(inputs.mapped(rounded))
    finally:
        subject.install(own)


def _in_single(subject: Subject, inputs: Arguments, own: dict) -> tuple[dict, str]:
    for inner in (True, False):
        try:
            return subject.run_as(inputs, TO_SINGLE, inner), ""
        except OracleError as error:
            failure = error.message
    return own, f"eager is float64 itself: the module cannot run in float32 ({failure})"


def eager_in(precision: str, subject: Subject, inputs: Arguments, own: dict) -> tuple[dict, str]:
    """The outputs, given those of the module as it is, and a note where they could not be had as asked."""
    if precision == "float32":
        return _in_single(subject, inputs, own) if _is_double(own) else (own, "")
    if precision == "tf32":
        return _as_float32(_with_rounded_tensors(subject, inputs, rounded_to_tf32)), ""
    types = _LOWER[precision]
    for inner in (False, True):
        try:
            return _as_float32(subject.run_as(inputs, types, inner)), ""
        except OracleError:
            pass
    lower = types[torch.float32]
    outputs = _with_rounded_tensors(
        subject, inputs, lambda t: copy_of(copy_of(t, lower), t.dtype) if t.dtype in types else t)
    return _as_float32(outputs), f"the module cannot run in {precision}: its inputs and weights were rounded instead"


def _is_double(outputs: dict) -> bool:
    return any(out.dtype == torch.float64 for out in outputs.values())


def _as_float32(outputs: dict) -> dict[str, torch.Tensor]:
    return {name: out.float() if out.is_floating_point() else out for name, out in outputs.items()}
