"""What is known of a problem before any kernel exists: its tensors, its graph, what it costs, what its output tells, and
what about it is odd."""

import torch

from kw_oracle.alive import most_bytes_alive
from kw_oracle.errors import unsupported
from kw_oracle.essential import essential_bytes
from kw_oracle.flops import count_flops
from kw_oracle.graph import export_graph
from kw_oracle.loading import Problem, load_problem
from kw_oracle.sensitivity import sensitivity_of
from kw_oracle.signature import call_form
from kw_oracle.subject import Subject, same_bits, same_outputs
from kw_oracle.tensors import Arguments, bytes_of, copy_of, spec_of

_SEED = 0
_OTHER_SEED = 1
_DRAWS = {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli", "uniform", "multinomial"}


def _quoted(names) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _mutated(before: dict, after: dict) -> list[str]:
    return [name for name in before if name not in after or not same_bits(before[name], after[name])]


def _run_once(subject: Subject, inputs: Arguments) -> tuple[dict, bool, list[str]]:
    """The outputs, whether the call writes into its inputs, and notes about what it changes."""
    watched = inputs.mapped(copy_of)
    state = {name: copy_of(tensor) for name, tensor in subject.state().items()}
    outputs = subject.run_in_place(watched)
    notes = []
    if written := _mutated(inputs.tensors(), watched.tensors()):
        notes.append(f"forward() writes into its input {_quoted(written)}; a kernel's inputs are read-only, and only its "
                     "outputs count")
    if changed := _mutated(state, subject.state()):
        notes.append(f"forward() changes the module's own {_quoted(changed)}; a kernel has to give the first call's output")
        subject.install(state)
    return outputs, bool(written), notes


def _check_repeatable(subject: Subject, inputs: Arguments, outputs: dict) -> None:
    state = {name: copy_of(tensor) for name, tensor in subject.state().items()}
    again = subject.run(inputs, seed=1)
    subject.install(state)
    if not same_outputs(outputs, again) and not _close(outputs, again):
        raise unsupported(f"{subject.problem.path}: forward() gives another output for the same input",
                          "take random numbers as inputs, or make them in __init__; dropout is off in eval()")


def _close(outputs: dict, again: dict) -> bool:
    """Equal but for the order of parallel sums."""
    return all(out.shape == again[name].shape and torch.allclose(
        out.double(), again[name].double(), rtol=1e-4, atol=1e-5 * float(out.double().abs().max() if out.numel() else 0),
        equal_nan=True) for name, out in outputs.items())


def _check_shapes(problem: Problem, given: Arguments, others: Arguments) -> None:
    if given.structure != others.structure or given.shape_key() != others.shape_key():
        raise unsupported(f"{problem.path}: get_inputs() gives other shapes for another seed",
                          "a kernel is for one set of shapes: make them constant")


def _input_notes(subject: Subject, given: Arguments) -> list[str]:
    again = subject.inputs(_SEED).tensors()
    unstable = _mutated(given.tensors(), again)
    return [f"get_inputs() gives other values for {_quoted(unstable)} under the same seed, so a check of this problem "
            "cannot be repeated exactly"] if unstable else []


def _hidden_state_notes(subject: Subject, inputs: Arguments, outputs: dict) -> list[str]:
    """Another module with the same tensors has to behave the same."""
    other = Subject(subject.problem, _OTHER_SEED)
    state = subject.state()
    if other.state().keys() != state.keys():
        return ["the module's tensors differ from one construction to the next"]
    other.install(state)
    if same_outputs(outputs, other.run(inputs)):
        return []
    return ["the module holds random state that is no parameter, buffer or tensor attribute, so a kernel cannot be given it"]


def _random_notes(graph: dict | None) -> list[str]:
    """Draws that are too small, or too far from the output, to show when forward() is repeated."""
    operations = {node["op"].split(".")[1].rstrip("_") for node in (graph or {}).get("nodes", []) if node["op"].startswith("aten.")}
    drawn = sorted(operations & _DRAWS)
    return [f"forward() draws random numbers ({_quoted(drawn)}), and a kernel cannot draw the same: take them as inputs, or make "
            "them in __init__"] if drawn else []


def describe(file: str, progress) -> dict:
    problem = load_problem(file)
    progress("building the module")
    subject = Subject(problem, _SEED)
    given, others = subject.inputs(_SEED), subject.inputs(_OTHER_SEED)
    _check_shapes(problem, given, others)
    progress("running forward()")
    outputs, writes, notes = _run_once(subject, given)
    _check_repeatable(subject, given, outputs)
    notes += _input_notes(subject, given) + _hidden_state_notes(subject, given, outputs)
    reference, fallback = subject.reference(given)
    if fallback:
        notes.append(fallback)

    taken: set[str] = set()
    state = subject.state()
    described = {
        "name": problem.name, "file": str(problem.path), "source_hash": problem.source_hash,
        "torch": str(torch.__version__),
        "inputs": given.specs(taken),
        "parameters": [spec_of(entry.name, entry.kind, state[entry.name], taken) for entry in subject.entries],
        "outputs": [spec_of(name, "output", tensor, taken) for name, tensor in outputs.items()],
        "call": call_form(subject, given),
    }
    progress("exporting the graph")
    graph, graph_error = export_graph(subject, given)
    total = float(sum(map(bytes_of, [*given.tensors().values(), *state.values(), *outputs.values()])))
    progress("trying how the output depends on the inputs")
    return {
        **described,
        "graph": graph, "graph_error": graph_error, "flops": count_flops(graph),
        "bytes": total, "essential_bytes": essential_bytes(subject, given, outputs, total, writes),
        "eager_bytes": most_bytes_alive(subject, given),
        "sensitivity": sensitivity_of(subject, given, others, outputs, reference),
        "notes": notes + _random_notes(graph),
    }


def decompose(file: str, operations: list[str], progress) -> dict:
    """The graph with these operations taken apart into simpler ones."""
    problem = load_problem(file)
    progress("exporting the graph in simpler operations")
    subject = Subject(problem, _SEED)
    graph, graph_error = export_graph(subject, subject.inputs(_SEED), frozenset(operations))
    return {"graph": graph, "graph_error": graph_error}
