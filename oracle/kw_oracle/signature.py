"""How forward() is called and what it returns, as trees whose leaves are numbered like the problem's inputs and outputs: for code that stands in
for the module."""

import torch
from torch.utils import _pytree as pytree

from kw_oracle.errors import unsupported
from kw_oracle.loading import Problem, blamed_on, load_problem
from kw_oracle.subject import Subject
from kw_oracle.tensors import argument_names, copy_of


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


def signature(file: str, progress) -> dict:
    problem = load_problem(file)
    progress("building the module")
    subject = Subject(problem, 0)
    given = subject.inputs(0)
    arguments = pytree.tree_unflatten(_numbered(given.leaves, lambda leaf: leaf is not None and not isinstance(leaf, str)), given.structure)
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
