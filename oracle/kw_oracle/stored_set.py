"""Reads back what materialise wrote: a module with the weights of a folder, and the inputs of a folder."""

import json
import pathlib

import torch

from kw_oracle.errors import bad_request, one_line
from kw_oracle.loading import Problem
from kw_oracle.storage import read_tensors
from kw_oracle.subject import Subject
from kw_oracle.tensors import Arguments, copy_of, span_of, with_memory


def _described(folder: pathlib.Path) -> dict:
    try:
        return json.loads((folder / "set.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise bad_request(f"{folder / 'set.json'}: cannot be read ({one_line(error)})",
                          "materialise the folder first") from None


def _owned(stored: torch.Tensor, like: torch.Tensor, path: pathlib.Path, name: str) -> torch.Tensor:
    """The stored memory in memory of our own, with the strides that forward() is used to."""
    if stored.numel() != span_of(like.shape, like.stride()) or stored.dtype != like.dtype:
        raise bad_request(f"{path}: '{name}' does not fit the problem", "materialise the folder again")
    return copy_of(with_memory(stored, like))


def _load_all(likes: dict[str, torch.Tensor], path: pathlib.Path) -> dict[str, torch.Tensor]:
    stored = read_tensors(path)
    if stored.keys() != likes.keys():
        raise bad_request(f"{path}: holds {sorted(stored)} and not {sorted(likes)}", "materialise the folder again")
    return {name: _owned(stored[name], like, path, name) for name, like in likes.items()}


def stored_subject(problem: Problem, folder: pathlib.Path) -> Subject:
    """The module with the weights of the folder."""
    described = _described(folder)
    if described.get("source_hash") != problem.source_hash:
        raise bad_request(f"{folder}: was made from another version of {problem.path}", "materialise the folder again")
    subject = Subject(problem, int(described.get("weights_seed", 0)))
    subject.install(_load_all(subject.state(), folder / "weights.safetensors"))
    return subject


def stored_inputs(subject: Subject, folder: pathlib.Path) -> Arguments:
    described = _described(folder)
    given = subject.inputs(int(described.get("seed", 0)))
    values = _load_all(given.tensors(), folder / "inputs.safetensors")
    for name, number in given.scalars().items():
        stored = described.get("scalars", {}).get(name, number)
        values[name] = type(number)(stored)
    return given.with_values(values)
