"""How forward() is called and what it returns, as trees whose leaves are numbered like the problem's inputs and outputs: for code that stands in
for the module."""

import math

import torch
from torch.utils import _pytree as pytree

from kw_oracle.errors import OracleError, unsupported
from kw_oracle.loading import Problem, blamed_on, constructor_arguments, load_problem
from kw_oracle.subject import Subject
from kw_oracle.tensors import Arguments, argument_names, copy_of


class _Leaf:
    def __init__(self, number: int):
        self.number = number


def _tree(problem: Problem, what: str, value) -> dict:
    if isinstance(value, _Leaf):
        return {"leaf": value.number}
    if value is None or isinstance(value, str):
        return {"constant": value}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_tree(problem, what, inner) for inner in value]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": [[key, _tree(problem, what, inner)] for key, inner in value.items()]}
    raise unsupported(f"{problem.path}: {what} has a {type(value).__name__} in it",
                      "use tensors, numbers, and lists, tuples or dicts of them with strings as keys")


def _numbered(leaves, counts) -> list:
    """The leaves, those that count replaced by their number among these."""
    number, made = 0, []
    for leaf in leaves:
        made.append(_Leaf(number) if counts(leaf) else leaf)
        number += counts(leaf)
    return made


def _constant_tree(problem: Problem, value) -> dict:
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (str, bool, int, float)):
        return {"constant": value}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_constant_tree(problem, inner) for inner in value]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": [[key, _constant_tree(problem, inner)] for key, inner in value.items()]}
    raise unsupported(f"{problem.path}: get_init_inputs() has a {type(value).__name__} in it", "use numbers, strings, types and lists of them")


def _numbered_inputs(given: Arguments):
    return pytree.tree_unflatten(_numbered(given.leaves, lambda leaf: leaf is not None and not isinstance(leaf, str)), given.structure)


def call_form(subject: Subject, given: Arguments) -> dict | None:
    """How Model is built and forward() called, for a process that builds another module in its place; None where trees of plain values cannot
    say it."""
    problem = subject.problem
    try:
        args, kwargs = constructor_arguments(problem)
        return {"constructor": {"args": [_constant_tree(problem, value) for value in args],
                                "kwargs": [[key, _constant_tree(problem, value)] for key, value in kwargs.items()]},
                "arguments": [_tree(problem, "get_inputs()", value) for value in _numbered_inputs(given)]}
    except OracleError:
        return None


def signature(file: str, progress) -> dict:
    problem = load_problem(file)
    progress("building the module")
    subject = Subject(problem, 0)
    given = subject.inputs(0)
    arguments = _numbered_inputs(given)
    progress("running forward()")
    with blamed_on(problem, "forward()"), torch.no_grad():
        result = subject.model(*given.mapped(copy_of).call())
    leaves, structure = pytree.tree_flatten(result)
    returned = pytree.tree_unflatten(_numbered(leaves, lambda leaf: isinstance(leaf, torch.Tensor)), structure)
    return {
        "parameters": argument_names(subject.model, len(arguments)),
        "arguments": [_tree(problem, "get_inputs()", value) for value in arguments],
        "returns": _tree(problem, "what forward() returns", returned),
    }
