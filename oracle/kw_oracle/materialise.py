"""Makes one set of a problem on disk: inputs, weights, the float64 reference and eager's output, for a seed and a
distribution. The files appear whole or not at all, set.json last."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import torch

from kw_oracle.distributions import STAGES, vary, without_subnormals
from kw_oracle.errors import OracleError
from kw_oracle.precision import eager_in
from kw_oracle.prepared import LastPrepared, Prepared
from kw_oracle.protocol import encode
from kw_oracle.storage import make_folder, write_tensors, write_text
from kw_oracle.subject import Subject, blocks
from kw_oracle.tensors import Arguments, all_laid_out_as, copy_of, laid_out_as
from kw_oracle.ties import Choices

PRECISIONS = ("float32", "tf32", "bf16", "fp16")
_PICKS = "the output depends on which of several equal values is picked"
_TIES_DECIDE = f"on the problem's own inputs {_PICKS}, or on which of several writes to one place comes last: a kernel has to do as PyTorch does"


@dataclass(frozen=True)
class Order:
    problem: str
    seed: int
    distribution: str
    weights: str
    weights_seed: int
    folder: str
    precision: str


@dataclass
class Outcome:
    inputs: Arguments
    own: dict[str, torch.Tensor]
    reference: dict[str, torch.Tensor]
    notes: list[str]
    eager_seconds: float
    choices: Choices

    def nonfinite_mask(self, name: str) -> torch.Tensor:
        return ~(self.reference[name].isfinite() & self.own[name].isfinite())

    @cached_property
    def is_finite(self) -> bool:
        return all(bool(part.isfinite().all()) for outputs in (self.own, self.reference) for out in outputs.values()
                   if out.is_floating_point() for (part,) in blocks(out))

    def is_as_finite_as(self, given: "Outcome") -> bool:
        return self.own.keys() == given.own.keys() and all(
            not bool((self.nonfinite_mask(name) & ~given.nonfinite_mask(name)).any())
            for name, out in self.own.items() if out.is_floating_point())

    @cached_property
    def depends_on_ties(self) -> bool:
        return self.choices.decide(self.reference)

    def nonfinite_share(self) -> float:
        floats = [out for out in self.reference.values() if out.is_floating_point()]
        bad = sum(int((~part.isfinite()).sum()) for out in floats for (part,) in blocks(out))
        return bad / max(1, sum(out.numel() for out in floats))


def _compute(subject: Subject, inputs: Arguments) -> Outcome:
    copies = inputs.mapped(copy_of)
    begin = time.perf_counter()
    own = subject.run_in_place(copies)
    seconds = time.perf_counter() - begin
    choices = Choices(subject, inputs)
    with choices.watch:
        reference, note = subject.reference(inputs)
    return Outcome(inputs, own, reference, [note] if note else [], seconds, choices)


def _tamed(subject: Subject, given: Arguments, distribution: str, seed: int) -> tuple[Outcome, str]:
    """The distribution, or the least tame variant of it under which the outputs are finite wherever the given inputs'
    are, and do not depend on which of equal values is picked unless they do on the given inputs."""
    if distribution == "given":
        outcome = _compute(subject, given)
        outcome.notes += [_TIES_DECIDE] if outcome.depends_on_ties else []
        return outcome, "given"
    on_given, failure, why = None, "", "others are outside what forward() can take"
    for stage, name in enumerate(STAGES):
        try:
            outcome = _compute(subject, vary(given, distribution, seed, stage))
        except OracleError as error:  # such as a loss that checks its targets' range
            failure = error.message
            continue
        if not outcome.is_finite:
            on_given = on_given or _compute(subject, given)
            if not outcome.is_as_finite_as(on_given):
                continue
        if outcome.depends_on_ties:
            on_given = on_given or _compute(subject, given)
            if not on_given.depends_on_ties:
                failure, why = _PICKS, f"with others {_PICKS}"
                continue
        if stage:
            outcome.notes.append(f"'{distribution}' inputs keep the {name.split()[1]} of the problem's own: {why}")
        return outcome, f"{distribution} ({name})" if stage else distribution
    outcome = on_given or _compute(subject, given)
    is_picked = failure == _PICKS
    outside = f"with '{distribution}' inputs {_PICKS}" if is_picked else f"'{distribution}' inputs are outside what forward() can take"
    outcome.notes.append(f"{outside}, so the inputs are the problem's own" + (f" ({failure})" if failure and not is_picked else ""))
    return outcome, "given"


def _integer_notes(reference: dict, eager: dict) -> list[str]:
    return [f"{int((reference[name] != out).sum())} of {out.numel()} elements of the integer output '{name}' depend on "
            "rounding: float32 and float64 differ there"
            for name, out in eager.items() if not out.is_floating_point() and not torch.equal(reference[name], out)]


def _flushed(subject: Subject, outcome: Outcome) -> dict[str, torch.Tensor]:
    """How far from the reference each output may be because arithmetic took subnormal inputs for zeros. Where that makes it NaN or infinite,
    nothing is allowed for."""
    try:
        flushed, _ = subject.reference(without_subnormals(outcome.inputs))
    except OracleError:
        return {}
    found = {}
    for name, out in outcome.reference.items():
        if out.is_floating_point() and flushed[name].shape == out.shape:
            distance = (flushed[name] - out).nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
            if bool(distance.any()):
                found[name] = distance.contiguous()
    return found


def _write_files(folder, files: dict[str, dict[str, torch.Tensor]], prepared: Prepared) -> None:
    """Two at a time; all of them or none."""
    paths = {folder / f"{name}.safetensors": tensors for name, tensors in files.items()}
    weights = folder / "weights.safetensors"
    with ThreadPoolExecutor(max_workers=2) as pool:
        writing = [pool.submit(write_tensors, path, tensors) for path, tensors in paths.items()]
        writing.append(pool.submit(prepared.write_weights, weights))
    try:
        for each in writing:
            each.result()
    except OracleError:
        for path in (*paths, weights):
            path.unlink(missing_ok=True)
        raise


def materialise(order: Order, progress, last: LastPrepared | None = None) -> dict:
    start = time.monotonic()
    folder = make_folder(order.folder)
    prepared = (last or LastPrepared()).get(order.problem, order.weights, order.weights_seed)
    subject, problem, notes = prepared.subject, prepared.subject.problem, list(prepared.notes)
    given = subject.inputs(order.seed)
    progress(f"computing the reference for '{order.distribution}' inputs")
    outcome, used = _tamed(subject, given, order.distribution, order.seed)
    eager, note = eager_in(order.precision, subject, outcome.inputs, outcome.own)
    notes += outcome.notes + ([note] if note else []) + _integer_notes(outcome.reference, eager)

    # What is compared element by element lies as eager's own output does.
    files = {"inputs": outcome.inputs.tensors(), "reference": all_laid_out_as(outcome.reference, outcome.own),
             "eager": all_laid_out_as(eager, outcome.own)}
    ties = outcome.choices.ties(outcome.reference, order.precision)
    ties.update({f"{name}.lines": laid_out_as(ties[f"{name}.lines"], out) for name, out in outcome.own.items() if f"{name}.lines" in ties})
    flushed = all_laid_out_as(_flushed(subject, outcome) if used.startswith("subnormal") else {}, outcome.own)
    _write_files(folder, files | ({"ties": ties} if ties else {}) | ({"flushed": flushed} if flushed else {}), prepared)
    nonfinite = 0.0 if outcome.is_finite else outcome.nonfinite_share()
    described = {
        "problem": str(problem.path), "source_hash": problem.source_hash, "torch": str(torch.__version__),
        "seed": order.seed, "distribution": order.distribution, "distribution_used": used, "weights": order.weights,
        "weights_used": prepared.used, "known_weights": prepared.known, "weights_seed": order.weights_seed, "precision": order.precision,
        "scalars": {name: value + 0 for name, value in outcome.inputs.scalars().items()},
        "nonfinite": nonfinite, "ties": bool(ties), "flushed": bool(flushed), "notes": notes, "eager_seconds": outcome.eager_seconds,
    }
    write_text(folder / "set.json", encode(described) + "\n")
    seconds = time.monotonic() - start
    return {"notes": notes, "distribution_used": used, "weights_used": prepared.used, "nonfinite": nonfinite,
            "seconds": round(seconds, 6)}
